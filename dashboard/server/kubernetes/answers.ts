/** Requests to the API server whose responses the server reads, and their errors. */
import type { Dispatcher } from "undici";
import { ApiError, type StatusBody } from "../../../bus/kube/errors.ts";
import type { ApiServer, AskedFor } from "./apiserver.ts";

/** The API server rejected the request. `said` is its own message, for the user. */
export class RefusedError extends ApiError {
  readonly said: string;

  constructor(request: string, status: number, body: StatusBody) {
    super(request, status, body);
    this.said = body.message ?? `The Kubernetes API answered with status ${status}.`;
  }
}

/** An error for the page: HTTP status, reason for code, and message for the user. */
export interface Trouble {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

/** The API server rejects the session's token: it has expired, or the API server does not trust the issuer. */
export const tokenRefused: Trouble = {
  status: 401,
  reason: "TokenRefused",
  message: "The Kubernetes API rejected your token. Log in again.",
};

/** No response, or an incomplete one. */
export const apiServerAway: Trouble = {
  status: 503,
  reason: "Unavailable",
  message: "The Kubernetes API does not answer.",
};

/** Maps an error to what the page shows. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof RefusedError)) return apiServerAway;
  const { status, reason, said } = error;
  return status === 401 ? tokenRefused : { status, reason, message: said };
}

/** Sends a request and parses the response. Throws a {@link RefusedError} if the status is not a success. */
export async function ask<T>(
  apiServer: Pick<ApiServer, "ask">,
  request: Pick<AskedFor, "path" | "token" | "signal"> &
    Partial<Pick<AskedFor, "method" | "body" | "headers">>,
): Promise<T> {
  const response = await apiServer.ask({ method: "GET", lasts: "short", ...request });
  if (response.statusCode >= 300) throw await refused(`${request.method ?? "GET"} ${request.path}`, response);
  return (await response.body.json()) as T;
}

/** Reads the error from a response. */
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
