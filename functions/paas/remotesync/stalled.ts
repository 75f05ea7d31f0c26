/** Detects an Image that kpack does not act on: its controller fails each time, or does not run. */
import type { Context, Stored } from "denrei";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { isObserved } from "./builds.ts";
import { recreateHint } from "./settings.ts";

/** A healthy kpack takes milliseconds. Milliseconds. */
const graceMillis = 30_000;

/**
 * A message once kpack has not acted on the Image for a while. `image`: from the API server. The next event or sweep checks again:
 * a timer would also cause a request to GitHub.
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
    `Check that kpack-controller runs, and check its log for this Image. If it cannot change the cache volume: ${recreateHint(sync)}`
  );
}
