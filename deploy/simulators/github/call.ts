/** A request to the API and its response. */
import type { IncomingHttpHeaders } from "node:http";

/** A request to the API. */
export interface ApiCall {
  readonly method: string;
  /** With its query, without `/api/v3`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A response of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | string;
}

/** Answers some requests, and returns undefined for the others. */
export type Endpoint = (call: ApiCall) => Promise<ApiAnswer | undefined>;

/** A JSON response. */
export const json = (status: number, body: unknown, headers: Record<string, string> = {}): ApiAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: JSON.stringify(body),
});

/** An error response in GitHub's format. */
export const problem = (status: number, message: string): ApiAnswer =>
  json(status, { message, documentation_url: "https://docs.github.com/rest", status: String(status) });
