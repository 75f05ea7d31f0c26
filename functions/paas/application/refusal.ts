/** Why an object of an Application is not taken, as the Application's owner reads it. Pure. */
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { ChildObject } from "../charts/validate.ts";
import { patience } from "../problems.ts";

/** Nobody tells that a kind has been installed. Milliseconds. */
const kindMillis = 30_000;

/**
 * Why an object is not taken, with a reason of `refusalReasonOf`, or what a `BlockedError` says itself. Throws what is no
 * refusal: an API server that is away, say.
 */
export function refusalOf(
  error: unknown,
  { kind, apiVersion, metadata: { name } }: Pick<ChildObject, "apiVersion" | "kind" | "metadata">,
): BlockedError {
  if (error instanceof BlockedError) return error;
  const reason = refusalReasonOf(error);
  if (reason === undefined) throw error;
  const isUnknown = reason === "KindNotInstalled";
  const hint = isUnknown ? `Install the CRD of ${apiVersion} ${kind}, or change the site's settings. ` : "";
  return new BlockedError(
    reason,
    `the API server refuses the ${kind} ${name}. ${hint}${(error as Error).message}`,
    isUnknown ? kindMillis : patience,
    { cause: error },
  );
}

/** All that is refused, as one: with the first one's reason, and as soon as one of them is to be tried again. */
export function refusalOfAll(refused: readonly BlockedError[]): BlockedError | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const message = refused.map((error) => error.message).join("; ");
  const soonest = Math.min(...refused.map(({ retryAfterMillis }) => retryAfterMillis));
  return new BlockedError(first.reason, message, soonest, { cause: first });
}
