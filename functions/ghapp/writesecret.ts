/** Reads and writes the Secret of an Installation. */
import {
  ApiError,
  BlockedError,
  blockedByRefusal,
  type Context,
  controllerReference,
  type Explanation,
  type Stored,
  secretAccessDenied,
} from "denrei";
import { retryMillis } from "denrei/github";
import { canBecome, patchTo } from "./existingsecret.ts";
import type { Installation } from "./kinds.ts";
import { type DesiredSecret, type SecretObject, TokenSecret } from "./secret.ts";

/** Creates or patches the Secret, or recreates it if it cannot be patched. `found` is the Installation's own. */
export const writeSecret = (
  installation: Stored<Installation>,
  found: Stored<SecretObject> | undefined,
  desired: DesiredSecret,
  ctx: Context,
): Promise<void> =>
  inNamespace(installation, async () => {
    if (found !== undefined && canBecome(found, desired)) {
      const { metadata, ...rest } = patchTo(found, desired) as { metadata: object };
      const ownerReferences = [controllerReference(installation)];
      await ctx.patch(TokenSecret, found, { ...rest, metadata: { ...metadata, ownerReferences } });
      return;
    }
    if (found !== undefined) await ctx.delete(TokenSecret, found);
    const { labels, annotations, ...content } = desired;
    const metadata = { name: installation.metadata.name, labels, annotations };
    await ctx.create(TokenSecret, { ...content, metadata });
  });

/** Reads a Secret of the Installation's namespace. */
export const readSecret = (
  installation: Stored<Installation>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> =>
  inNamespace(installation, () => ctx.live.get(TokenSecret, installation.metadata.name));

/** Whether the API server refused a write, so that certainly nothing was written. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.status >= 400 && error.status < 500
    : error instanceof BlockedError && isRefusal(error.cause);

/** Turns refusals of the API server into errors for the object's owner. */
async function inNamespace<T>({ metadata }: Stored<Installation>, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw blockedByRefusal(error, (reason, message) => ({
      ...explain(metadata, reason, message),
      retryAfterMillis: retryMillis,
    }));
  }
}

function explain(
  { name, namespace }: Stored<Installation>["metadata"],
  reason: string,
  message: string,
): Explanation {
  if (reason === "Forbidden")
    return secretAccessDenied(
      `the API server refused to store the Secret ${name} in ${namespace}`,
      namespace ?? "",
    );
  if (reason === "Invalid")
    return {
      reason: "SecretInvalid",
      message: `the Secret is invalid: ${message}. Correct spec.template, spec.key, or spec.format.`,
    };
  return { reason, message };
}
