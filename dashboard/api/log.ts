/** The server's log API: its events as types, and its limit. The page imports no code of the server. */

/** The most logs of one stream. The API server keeps a connection to a kubelet for each of them. */
export const maxLogs = 20;

/** A line. */
export interface StreamedLine {
  /** Index of the log in the query. */
  readonly of: number;
  /** Time of writing: RFC 3339 in UTC with nine digits, so that string order is time order. Absent if the line has none. */
  readonly at?: string;
  readonly text: string;
  /** Whether the server truncated the line. */
  readonly isCut: boolean;
}

/** Event `lines`. Lines of one log are in their order; lines of several logs may be out of order. */
export interface StreamedLines {
  readonly lines: readonly StreamedLine[];
}

/** Event `end`: the container has ended, and there are no more lines. */
export interface LogEnd {
  readonly of: number;
}

/** Event `problem`: a log cannot be read. The server retries, and reports the status 0 when it can be read again. */
export interface LogProblem {
  readonly of: number;
  readonly status: number;
  readonly message?: string;
  /** Set if the message is in the words of Kubernetes, and not a sentence of the dashboard. */
  readonly kind?: "Status";
}
