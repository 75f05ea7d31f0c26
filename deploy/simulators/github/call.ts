/** One request to the API and its answer, as the parts of the emulated GitHub hand them to each other. */
import type { IncomingHttpHeaders } from "node:http";

/** A request. */
export interface ApiCall {
  readonly method: string;
  /** With its query, without `/api/v3`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | string;
}

/** What answers some requests itself, and leaves the others undefined. */
export type Endpoint = (call: ApiCall) => Promise<ApiAnswer | undefined>;

/** An answer of JSON. */
export const json = (status: number, body: unknown, headers: Record<string, string> = {}): ApiAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: JSON.stringify(body),
});

/** An error in GitHub's form. */
export const problem = (status: number, message: string): ApiAnswer =>
  json(status, { message, documentation_url: "https://docs.github.com/rest", status: String(status) });
