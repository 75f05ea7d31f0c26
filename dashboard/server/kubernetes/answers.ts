/** Answers of the API server that the server itself reads, and what a page is told when there is none. */
import type { Dispatcher } from "undici";
import { ApiError, type StatusBody } from "../../../bus/kube/errors.ts";
import type { ApiServer, AskedFor } from "./apiserver.ts";

/** The API server's answer is no. `said` is what it says itself, for people. */
export class RefusedError extends ApiError {
  readonly said: string;

  constructor(request: string, status: number, body: StatusBody) {
    super(request, status, body);
    this.said = body.message ?? `the Kubernetes API answered ${status}`;
  }
}

/** What a page is told when something does not work: a status of HTTP, a word for code and a sentence for people. */
export interface Trouble {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

/** The session is one of ours, and its token is not taken: it has ended, or the API server trusts another issuer. */
export const tokenRefused: Trouble = {
  status: 401,
  reason: "TokenRefused",
  message:
    "expected a token that the Kubernetes API takes, found that it does not take this one: log in again",
};

/** Nobody answers, or not to the end. */
export const apiServerAway: Trouble = {
  status: 503,
  reason: "Unavailable",
  message: "expected an answer of the Kubernetes API, found none: it is away, or on its way back",
};

/** What an error is for a page. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof RefusedError)) return apiServerAway;
  const { status, reason, said } = error;
  return status === 401 ? tokenRefused : { status, reason, message: said };
}

/** Asks for something and reads it. Throws a {@link RefusedError} when the answer is no. */
export async function ask<T>(
  apiServer: Pick<ApiServer, "ask">,
  request: Pick<AskedFor, "path" | "token" | "signal"> &
    Partial<Pick<AskedFor, "method" | "body" | "headers">>,
): Promise<T> {
  const response = await apiServer.ask({ method: "GET", lasts: "short", ...request });
  if (response.statusCode >= 300) throw await refused(`${request.method ?? "GET"} ${request.path}`, response);
  return (await response.body.json()) as T;
}

/** The error in an answer. */
export async function refused(
  request: string,
  { statusCode, body }: Dispatcher.ResponseData,
): Promise<RefusedError> {
  const text = await body.text();
  let status: StatusBody;
  try {
    status = JSON.parse(text) as StatusBody;
  } catch {
    status = { message: text.slice(0, 300) };
  }
  return new RefusedError(request, statusCode, status);
}
