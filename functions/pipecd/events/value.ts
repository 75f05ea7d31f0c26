/** The value of an EventRegistration's source. */
import type { Context, Stored } from "denrei";
import { RemoteSync } from "../../paas/kinds/remotesync.ts";
import type { EventRegistration } from "../kinds.ts";

/** A value, or the reason why the source has none. */
export type Value =
  | { readonly data: string; readonly commit: string; readonly missing?: never }
  | { readonly data?: never; readonly missing: Missing };

/** Reason and message for the condition Ready. */
export interface Missing {
  readonly reason: "RemoteSyncNotFound" | "ImageNotBuilt";
  readonly message: string;
}

type Source = EventRegistration["spec"]["source"];

/** Reads the value from its source. */
export async function currentValue(
  { spec }: Pick<Stored<EventRegistration>, "spec">,
  { read, key }: Pick<Context, "read" | "key">,
): Promise<Value> {
  const { data, remoteSync } = spec.source;
  if (remoteSync === undefined) return { data: data ?? "", commit: "" };
  const { name } = remoteSync;
  const sync = await read.get(RemoteSync, name);
  if (sync === undefined || sync.metadata.deletionTimestamp !== undefined)
    return missing("RemoteSyncNotFound", `RemoteSync ${name} not found in ${key.namespace}`);
  return imageOf(sync, remoteSync);
}

/** Only an image of the current revision counts: a newer build will replace an older one. */
function imageOf(
  { metadata, status }: Stored<RemoteSync>,
  { name, value }: NonNullable<Source["remoteSync"]>,
): Value {
  const built = status?.conditions?.find(({ type }) => type === "Built");
  if (status === undefined || status.observedGeneration !== metadata.generation || built?.status !== "True")
    return missing(
      "ImageNotBuilt",
      `RemoteSync ${name} has no image of its revision yet: ${built?.message || "it has not been reconciled"}`,
    );
  const { latestImage = "", latestImageRevision = "", revision } = status;
  if (latestImageRevision !== revision)
    return missing("ImageNotBuilt", `the image of RemoteSync ${name} was built from an earlier revision`);
  const digest = /@(sha256:[0-9a-f]{64})$/.exec(latestImage)?.[1];
  if (digest === undefined)
    return missing("ImageNotBuilt", `the image of RemoteSync ${name} has no digest: "${latestImage}"`);
  return { data: value === "Digest" ? digest : latestImage, commit: latestImageRevision };
}

const missing = (reason: Missing["reason"], message: string): Value => ({ missing: { reason, message } });
