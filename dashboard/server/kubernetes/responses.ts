/** Requests to the API server whose responses the server reads, and their errors. */
import { ApiError, type StatusBody } from "denrei/kubernetes";
import type { Dispatcher } from "undici";
import { type ApiRequest, type ApiServer, StartingError } from "./apiserver.ts";

/** The API server rejected the request. `apiMessage` is its own message, for the user. */
export class RejectedError extends ApiError {
  readonly apiMessage: string;

  constructor(request: string, status: number, body: StatusBody) {
    super(request, status, body);
    this.apiMessage = body.message ?? `The Kubernetes API answered with status ${status}.`;
  }
}

/** An error for the page: HTTP status, reason for code, and message for the user. */
export interface PageError {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

/** The API server rejects the session's token: it has expired, or the API server does not trust the issuer. */
export const tokenRejected: PageError = {
  status: 401,
  reason: "TokenRefused",
  message: "The Kubernetes API rejected your token. Log in again.",
};

/** No response, or an incomplete one. */
export const apiServerUnavailable: PageError = {
  status: 503,
  reason: "Unavailable",
  message: "The Kubernetes API does not answer.",
};

const apiServerStarting: PageError = {
  status: 503,
  reason: "Starting",
  message: "The Kubernetes API is starting and cannot check your access yet.",
};

/** Maps an error to what the page shows. */
export function pageErrorOf(error: unknown): PageError {
  if (error instanceof StartingError) return apiServerStarting;
  if (!(error instanceof RejectedError)) return apiServerUnavailable;
  const { status, reason, apiMessage } = error;
  return status === 401 ? tokenRejected : { status, reason, message: apiMessage };
}

/** Sends a request and parses the response. Throws a {@link RejectedError} if the status is not a success. */
export async function requestJson<T>(
  apiServer: Pick<ApiServer, "request">,
  request: Pick<ApiRequest, "path" | "token" | "signal"> &
    Partial<Pick<ApiRequest, "method" | "body" | "headers">>,
): Promise<T> {
  const response = await apiServer.request({ method: "GET", lasts: "short", ...request });
  if (response.statusCode >= 300)
    throw await rejectedError(`${request.method ?? "GET"} ${request.path}`, response);
  return (await response.body.json()) as T;
}

/** Reads the error from a response. */
export async function rejectedError(
  request: string,
  { statusCode, body }: Dispatcher.ResponseData,
): Promise<RejectedError> {
  const text = await body.text();
  let status: StatusBody;
  try {
    status = JSON.parse(text) as StatusBody;
  } catch {
    status = { message: text.slice(0, 300) };
  }
  return new RejectedError(request, statusCode, status);
}
