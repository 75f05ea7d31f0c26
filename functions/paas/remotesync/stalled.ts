/** An Image that kpack does not act on: its controller fails at it each time, or does not run. */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { isObserved } from "./builds.ts";
import { recreateHint } from "./settings.ts";

/** kpack needs milliseconds when it is well. Milliseconds. */
const graceMillis = 30_000;

/**
 * Why nothing becomes of the Image, once that has lasted. `image`: from the API server. The next event or sweep checks again: a timer
 * would also be a reason to ask GitHub.
 */
export function stalledText(
  sync: RemoteSync,
  image: Stored<Image>,
  ctx: Pick<Context, "now">,
): string | undefined {
  if (isObserved(image)) return undefined;
  const {
    name,
    generation,
    managedFields = [],
    creationTimestamp = "",
  } = image.metadata as Stored<Image>["metadata"] & {
    readonly managedFields?: readonly { readonly time?: string; readonly subresource?: string }[];
  };
  const written = managedFields.flatMap(({ time, subresource }) =>
    time && !subresource ? [Date.parse(time)] : [],
  );
  const since = Math.max(Date.parse(creationTimestamp) || 0, ...written);
  if (ctx.now() < since + graceMillis) return undefined;
  const seen = image.status?.observedGeneration ?? "none";
  return (
    `kpack has not acted on generation ${generation} of the Image ${name} since ${new Date(since).toISOString()} (its status.observedGeneration is ${seen}). ` +
    `Check that kpack-controller runs, and its log for this Image. If it cannot change the volume of the cache: ${recreateHint(sync)}`
  );
}
