/** Why an object of an Application is not taken, as the Application's owner reads it. Pure. */
import { ApiError, isForbidden, isInvalid, isNotFound } from "../../../bus/kube/errors.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { ChildObject } from "../charts/validate.ts";
import { patience } from "../problems.ts";

/** Nobody tells that a kind has been installed. Milliseconds. */
const kindMillis = 30_000;

/**
 * Why an object is not taken: `Invalid`, `Forbidden`, `KindNotInstalled`, or what a `BlockedError` says itself. Throws what is
 * no refusal: an API server that is not there, say.
 */
export function refusalOf(
  error: unknown,
  { kind, apiVersion, metadata: { name } }: Pick<ChildObject, "apiVersion" | "kind" | "metadata">,
): BlockedError {
  if (error instanceof BlockedError) return error;
  if (!(error instanceof ApiError)) throw error;
  const refused = (reason: string, problem: string, retryMillis = patience) =>
    new BlockedError(
      reason,
      `expected a ${kind} ${name} that the API server takes, ${problem}: ${error.message}`,
      retryMillis,
      { cause: error },
    );
  if (isInvalid(error)) return refused("Invalid", "found one that is not valid");
  if (isForbidden(error)) return refused("Forbidden", "found one that is not allowed");
  if (isNotFound(error))
    return refused(
      "KindNotInstalled",
      `found none that knows ${apiVersion} ${kind}. Install its CRD, or change the site's settings`,
      kindMillis,
    );
  throw error;
}

/** All that is refused, as one: with the first one's reason, and as soon as one of them is to be tried again. */
export function refusalOfAll(refused: readonly BlockedError[]): BlockedError | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const message = refused.map((error) => error.message).join("; ");
  const soonest = Math.min(...refused.map(({ retryAfterMillis }) => retryAfterMillis));
  return new BlockedError(first.reason, message, soonest, { cause: first });
}
