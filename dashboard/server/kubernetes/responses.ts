/** Requests to the API server whose responses the server reads, and their errors. */
import { ApiError, type StatusBody } from "denrei/kubernetes";
import type { Dispatcher } from "undici";
import { type ApiRequest, type ApiServer, NoAnswerError, StartingError } from "./apiserver.ts";

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
  /** Set if the message is in the words of Kubernetes, as in its own responses. All other messages are sentences. */
  readonly kind?: "Status";
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
  return status === 401 ? tokenRejected : { status, reason, message: apiMessage, kind: "Status" };
}

/**
 * Sends a request and parses the response. Throws a {@link RejectedError} if the status is not a success, and a {@link NoAnswerError}
 * without a response.
 */
export async function requestJson<T>(
  apiServer: Pick<ApiServer, "request">,
  request: Pick<ApiRequest, "path" | "token" | "signal"> &
    Partial<Pick<ApiRequest, "method" | "body" | "headers">>,
): Promise<T> {
  const { method = "GET", path } = request;
  try {
    const response = await apiServer.request({ method, lasts: "short", ...request });
    if (response.statusCode >= 300) throw await rejectedError(`${method} ${path}`, response);
    return (await response.body.json()) as T;
  } catch (error) {
    if (error instanceof RejectedError || error instanceof NoAnswerError) throw error;
    throw new NoAnswerError(`${method} ${path} got no answer`, { cause: error });
  }
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
