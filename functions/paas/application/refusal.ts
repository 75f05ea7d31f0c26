/** Why an object of an Application is not taken, as the Application's owner reads it. Pure. */
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import { ApiError } from "../../../bus/kube/errors.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { ChildObject } from "../charts/validate.ts";
import { patience } from "../problems.ts";

/** No event reports that a kind was installed, or a role applied. Milliseconds. */
const kindMillis = 30_000;

/**
 * Why an object is not taken, with a reason of `refusalReasonOf`, or what a `BlockedError` says itself. Throws what is no
 * refusal: an API server that is away, say.
 */
export function refusalOf(
  error: unknown,
  { kind, apiVersion, metadata: { name } }: Pick<ChildObject, "apiVersion" | "kind" | "metadata">,
  { hints = {}, does = "refuses" }: RefusalOptions = {},
): BlockedError {
  if (error instanceof BlockedError) return error;
  const reason = refusalReasonOf(error);
  if (reason === undefined) throw error;
  const isUnknown = reason === "KindNotInstalled";
  const unknown = `Install the CRD of ${apiVersion} ${kind}, or change the site's settings.`;
  const known = reason === "Forbidden" && !isLackOfRights(error) ? undefined : hints[reason];
  const hint = known ?? (isUnknown ? unknown : undefined);
  const { message } = error as Error;
  const text = hint === undefined ? message : `${hint} ${error instanceof ApiError ? error.answer : message}`;
  return new BlockedError(
    reason,
    `the API server ${does} the ${kind} ${name}. ${text}`,
    isUnknown || hint !== undefined ? kindMillis : patience,
    { cause: error },
  );
}

/** Limits and policies forbid objects as well: `forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi`. */
const isLackOfRights = (error: unknown): boolean => / cannot \S+ resource /.test((error as Error).message);

/** Text beside the API server's own. */
export interface RefusalOptions {
  /** What to do, by reason: it is looked again soon whether it was done. */
  readonly hints?: Readonly<Record<string, string | undefined>>;
  readonly does?: "refuses" | "does not let the platform delete";
}

/** All that is refused, as one: with the first one's reason, and as soon as one of them is to be tried again. */
export function refusalOfAll(refused: readonly BlockedError[]): BlockedError | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const message = refused.map((error) => error.message).join("; ");
  const soonest = Math.min(...refused.map(({ retryAfterMillis }) => retryAfterMillis));
  return new BlockedError(first.reason, message, soonest, { cause: first });
}
