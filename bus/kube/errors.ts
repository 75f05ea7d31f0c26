/** Errors of calls to the Kubernetes API. */
import { checkUser } from "./denial.ts";

/** One of the problems that a `metav1.Status` lists. */
export interface StatusCause {
  /** Path of the invalid field. */
  readonly field?: string;
  readonly message?: string;
}

/** `metav1.Status`, reduced to the fields in use. */
export interface StatusBody {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly StatusCause[] };
}

/** What a client knows about an error in addition to its answer. */
export interface ApiErrorDetails {
  readonly retryAfterMillis?: number;
  readonly isDenied?: boolean;
  /** Continues the message. */
  readonly advice?: string;
}

/** The API server answered with an error. `status` is the HTTP code, `reason` the machine-readable cause. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly reason: string;
  /** Request and answer, without advice. */
  readonly answer: string;
  /** The server's own text. */
  readonly text: string;
  /** The invalid fields, if the server lists them. */
  readonly causes: readonly StatusCause[];
  /** The server's requested wait before the next attempt, in milliseconds. */
  readonly retryAfterMillis: number | undefined;
  /** Whether the user lacks a permission. A 403 of admission has other causes. */
  readonly isDenied: boolean;

  constructor(request: string, status: number, body: StatusBody, details: ApiErrorDetails = {}) {
    const { reason, message } = body;
    const { retryAfterMillis, isDenied = false, advice = status === 401 ? checkUser : "" } = details;
    const code = [status, reason].filter(Boolean).join(" ");
    const text = textOf(message);
    const answer = `${request} was answered ${code}: ${text}`;
    super(`${answer}${advice}`);
    this.answer = answer;
    this.text = text;
    this.isDenied = isDenied;
    this.status = status;
    this.reason = body.reason ?? "";
    this.causes = body.details?.causes ?? [];
    this.retryAfterMillis =
      retryAfterMillis ??
      (body.details?.retryAfterSeconds ? body.details.retryAfterSeconds * 1000 : undefined);
  }
}

/** Servers other than the API server end their text with a line break. */
const textOf = (message = ""): string => (message.trim() === "" ? "no message" : message.replace(/\n+$/, ""));

/** No answer: the connection was refused or reset, timed out, or its certificate is not trusted. */
export class ApiUnreachableError extends Error {
  override readonly name: string = "ApiUnreachableError";
}

/** No answer within the caller's time limit. Other requests may be answered. */
export class ApiUnansweredError extends ApiUnreachableError {
  override readonly name = "ApiUnansweredError";
}

/** The provider of credentials failed: a plugin or an identity provider. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

/** 403: the permission was not granted. */
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

/** 404: no such object, or no such kind. */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);

/** 409 on an update: the object is newer than the caller's copy, or is another one with the same name. */
export const isConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && error.reason !== "AlreadyExists";

/** 409 on a create: the name is taken. */
export const isAlreadyExists = (error: unknown): boolean =>
  hasStatus(error, 409) && error.reason === "AlreadyExists";

/** 410: the resourceVersion is too old; list again. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);

/** 422, 400, or too large: the API server rejects the object, and a retry does not help. */
export const isInvalid = (error: unknown): boolean =>
  hasStatus(error, 422) || hasStatus(error, 400) || isTooLarge(error) || isNotConvertible(error);

/** 413, or a 500 that passes on the limit of etcd (1.5 MiB) or of its gRPC client (2 MiB). */
const isTooLarge = (error: unknown): boolean =>
  hasStatus(error, 413) ||
  (hasStatus(error, 500) &&
    /request is too large|trying to send message larger than max/.test(error.message));

/** Server-side apply answers 500 where other writes answer 400: a field's value does not fit its type. */
const isNotConvertible = (error: unknown): boolean =>
  hasStatus(error, 500) && /failed to (convert new|create typed patch) object/.test(error.message);

/** The API server does not answer at all, rejects our credentials, or is busy: 401, 429, 502, 503, 504, or no answer. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof ApiUnreachableError ||
  error instanceof CredentialsError ||
  [401, 429, 502, 503, 504].some((status) => hasStatus(error, status));

/** TLS failed because one side does not trust the other's certificate. Codes of Node and OpenSSL. */
export const isDistrust = (error: unknown): boolean =>
  /CERT|SIGNATURE|ALTNAME|ISSUER|SSL_ALERT|TLSV1_ALERT|_ALERT_/.test(
    (error as NodeJS.ErrnoException).code ?? "",
  );
