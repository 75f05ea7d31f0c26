/** Errors for objects that the API server refuses, written for the Application's owner. Pure. */
import { ApiError, BlockedError, blockedByRefusal } from "denrei";
import type { ChildObject } from "../charts/validate.ts";
import { retryMillis } from "../retry.ts";

/** Retry interval where no event reports that a CRD was installed or a role applied. Milliseconds. */
const kindMillis = 30_000;

/**
 * The refusal of an object, with a reason of `refusalReasonOf`. A `BlockedError` is returned unchanged. Any other error, such as an
 * unavailable API server, is thrown.
 */
export function refusalOf(
  error: unknown,
  { kind, apiVersion, metadata: { name } }: Pick<ChildObject, "apiVersion" | "kind" | "metadata">,
  { hints = {}, does = "rejected" }: RefusalOptions = {},
): BlockedError {
  if (error instanceof BlockedError) return error;
  return blockedByRefusal(error, (reason, message) => {
    const isUnknown = reason === "KindNotInstalled";
    const unknown = `Install the CRD of ${apiVersion} ${kind}, or change the site's settings.`;
    const known = reason === "Forbidden" && !isLackOfRights(message) ? undefined : hints[reason];
    const hint = known ?? (isUnknown ? unknown : undefined);
    const text =
      hint === undefined ? message : `${hint} ${error instanceof ApiError ? error.answer : message}`;
    return {
      reason,
      message: `Kubernetes ${does} the ${kind} ${name}${hint === undefined ? ":" : "."} ${text}`,
      retryAfterMillis: isUnknown || hint !== undefined ? kindMillis : retryMillis,
    };
  });
}

/** Quotas and policies answer Forbidden too: `forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi`. */
const isLackOfRights = (message: string): boolean => / cannot \S+ resource /.test(message);

/** Text around the API server's own. */
export interface RefusalOptions {
  /** What to do, by reason. A refusal with a hint is retried soon. */
  readonly hints?: Readonly<Record<string, string | undefined>>;
  readonly does?: "rejected" | "does not let the platform delete";
}

/** Combines refusals into one error, with the first one's reason and the shortest retry interval. */
export function refusalOfAll(refused: readonly BlockedError[]): BlockedError | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const message = refused.map((error) => error.message).join("; ");
  const soonest = Math.min(...refused.map(({ retryAfterMillis }) => retryAfterMillis));
  return new BlockedError(first.reason, message, soonest, { cause: first });
}
