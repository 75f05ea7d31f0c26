/** The bridge's records on the bus: which replica leads a watch, and the position of the watch. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KV, KvEntry } from "@nats-io/kv";
import { z } from "zod";
import { isVersion } from "../kube/object.ts";
import { type GroupKind, token, untoken } from "../subjects.ts";
import { untilShared } from "../values/eventloop.ts";
import { claim, holderIn } from "./lease.ts";

/** The stored position of a kind's watch. */
export const positionSchema = z.object({
  resourceVersion: z.string(),
  /** RFC 3339. */
  time: z.string(),
  holder: z.string(),
  state: z.enum(["listing", "resuming", "watching", "absent"]),
  /** Objects that exist. */
  objects: z.int().default(0),
  /** Sequence of the kind's last message in the object store. */
  sequence: z.int().default(0),
  /** RFC 3339. Creation time of the object store that has everything up to the position. Older programs omit it. */
  stream: z.string().optional(),
  /** The published form of objects up to here, as `publishedForm` names it. Older programs omit it. */
  form: z.string().optional(),
});
/** How far a bridge has published a kind. */
export type Position = z.infer<typeof positionSchema>;

/** Parses a position record. Returns undefined for a missing or invalid record. */
export function parsePosition(text: string): Position | undefined {
  try {
    return positionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const slot = (cluster: string, kind: GroupKind, namespace: string | undefined): string =>
  `${token(cluster)}.${token(kind.group)}.${token(kind.kind)}${namespace === undefined ? "" : `.${token(namespace)}`}`;

/** Key of a kind's position in the bridge's bucket. */
export const positionKey = (cluster: string, kind: GroupKind, namespace?: string): string =>
  `position.${slot(cluster, kind, namespace)}`;

/** The kind of a position's key, in a list of one; empty for other keys. */
export function kindIn(key: string): GroupKind[] {
  const [space, , group, kind] = key.split(".");
  return space === "position" && group !== undefined && kind !== undefined
    ? [{ group: untoken(group), kind: untoken(kind) }]
    : [];
}

/** Matches every position in a cluster. */
export const positionKeys = (cluster: string): string => `position.${token(cluster)}.>`;

/** Key of a kind's lease in the same bucket: {@link holderIn} reads the leading replica from its value. */
export const leaseKey = (cluster: string, kind: GroupKind, namespace?: string): string =>
  `lease.${slot(cluster, kind, namespace)}`;

/**
 * Key of the lease for the opted-in namespaces of a kind. Each project has its own: its bridges may have rights in other namespaces
 * than those of another project.
 */
export const optedInLeaseKey = (cluster: string, kind: GroupKind, project: string | undefined): string =>
  project === undefined ? leaseKey(cluster, kind) : `${leaseKey(cluster, kind, project)}.opted-in`;

const saveEveryMillis = 1000;

const positionOf = (entry: KvEntry | null): Position | undefined =>
  entry?.operation === "PUT" ? parsePosition(entry.string()) : undefined;

/** Where to resume. Undefined if the watcher was listing (its position is no longer served) or if the object store is new. */
export function servedPosition(entry: KvEntry | null, storeCreatedAt: string): string | undefined {
  const { state, resourceVersion, stream = storeCreatedAt } = positionOf(entry) ?? {};
  if (stream !== storeCreatedAt) return undefined;
  return (state === "watching" || state === "resuming") && isVersion(resourceVersion)
    ? resourceVersion
    : undefined;
}

/** What the bus had of a kind at a position. */
export type SavedExtent = Pick<Position, "sequence" | "objects">;

/** What the bus had at the saved position. After a power cut or a purge it may have less. */
export function savedExtent(entry: KvEntry | null): SavedExtent {
  const { sequence = 0, objects = 0 } = positionOf(entry) ?? {};
  return { sequence, objects };
}

/** The form in which everything up to the position was published. */
export const savedForm = (entry: KvEntry | null): string | undefined => positionOf(entry)?.form;

/**
 * Saves the position once a second when it has moved, and once more at the end. A bridge that resumes after a pause
 * must not overwrite the position of the current leader.
 */
export async function keepSaved(options: {
  readonly kv: KV;
  readonly key: string;
  /** Key of the lease: if two bridges have saved, the holder of the lease is right. */
  readonly lease: string;
  /** Revision of the record when the lease was taken; 0 without a record. */
  readonly revision: number;
  readonly ended: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly now: () => Omit<Position, "time">;
}): Promise<void> {
  const { kv, key, ended } = options;
  let { revision } = options;
  let saved = "";
  const save = async () => {
    const now = options.now();
    if (JSON.stringify(now) === saved) return;
    const text = JSON.stringify({ ...now, time: new Date().toISOString() });
    const next = await claim(() => kv.put(key, text, { previousSeq: revision }));
    if (next !== undefined) {
      revision = next;
      saved = JSON.stringify(now);
      return;
    }
    const [found, lease] = await Promise.all([kv.get(key), kv.get(options.lease)]);
    // If this replica still holds the lease, the next save overwrites the record.
    if (lease && holderIn(lease.string()) === now.holder) revision = found?.revision ?? 0;
  };
  while (!ended.aborted) {
    await sleep(untilShared(saveEveryMillis), undefined, { signal: ended }).catch(() => undefined);
    // A position that was not saved only costs a longer replay.
    await save().catch(options.onError);
  }
}
