/** Refusals of the API server as conditions, for the owner of the affected object. */
import { refusalReasonOf } from "../kube/blocker.ts";
import { optInCommands } from "../kube/domain.ts";
import { ApiError, isForbidden } from "../kube/errors.ts";
import { BlockedError } from "./errors.ts";

/** Reason and message of a condition. */
export interface Explanation {
  readonly reason: string;
  readonly message: string;
}

/**
 * Turns a refusal into a `BlockedError`. `explain` gets a reason of {@link refusalReasonOf} and the message of the error, without the
 * request if the object is at fault. Throws any other error, such as that of an unavailable API server, unchanged.
 */
export function blockedByRefusal(
  error: unknown,
  explain: (reason: string, message: string) => Explanation & { readonly retryAfterMillis: number },
): BlockedError {
  const refused = refusalReasonOf(error);
  if (refused === undefined) throw error;
  const { reason, message, retryAfterMillis } = explain(refused, messageOf(error, refused));
  return new BlockedError(reason, message, retryAfterMillis, { cause: error });
}

/** Reasons that are about the object itself. */
const faults: readonly string[] = ["Invalid", "AdmissionDenied"];

function messageOf(error: unknown, reason: string): string {
  if (!(error instanceof ApiError) || !faults.includes(reason)) return (error as Error).message;
  const fields = error.causes.map(({ field, message }) => [field, message].filter(Boolean).join(": "));
  return fields.length > 0 ? fields.join("; ") : error.text;
}

/** Explains a 403 for a Secret: the platform has rights only in opted-in namespaces. `problem` is a sentence without a period. */
export const secretAccessDenied = (problem: string, namespace: string): Explanation => ({
  reason: "SecretAccessDenied",
  message: `${problem}. Opt the namespace in: ${optInCommands(namespace)}`,
});

/** Turns a 403 for a Secret into a `BlockedError`, with {@link secretAccessDenied}. Throws any other error unchanged. */
export function blockedBySecretAccess(
  error: unknown,
  problem: string,
  namespace: string,
  retryAfterMillis: number,
): BlockedError {
  if (!isForbidden(error)) throw error;
  const { reason, message } = secretAccessDenied(problem, namespace);
  return new BlockedError(reason, message, retryAfterMillis, { cause: error });
}
