/** The first read of an attempt, and the minimum versions that a request demands. */
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { Kind } from "../kube/kind.ts";
import { type KubeObject, newestVersion, type ObjectVersion, type Stored } from "../kube/object.ts";
import type { Entry, ObjectStore } from "../objects/store.ts";
import type { Request } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";

/**
 * The first read of an attempt: from the object store, the object and, if the request has its uid, its children; or from the API
 * server, the object alone.
 */
export type FirstRead =
  | {
      readonly entry: Entry | undefined;
      readonly family: { readonly owner: string; readonly children: readonly Entry[] } | undefined;
    }
  | { readonly live: Stored | undefined };

/** The changes of this kind in the request: reads must return at least these versions. */
export const changesOf = ({ cause, also = [] }: Request, kind: Kind) =>
  [cause, ...also].flatMap((change) =>
    change.type === "object" && change.kind === kind.kind && change.group === kind.group ? [change] : [],
  );

/**
 * Whether the request includes a manual replay. A replay does not name the change that it is for. Usually this is the latest
 * change, which the store may not have yet.
 */
export const isReplay = ({ cause, also = [] }: Request): boolean =>
  [cause, ...also].some(({ type }) => type === "replay");

/** Reads the object of a request, with its children if possible: most reconciles need both. */
export async function readFirst(
  { store, client }: { readonly store: ObjectStore; readonly client: KubeClient },
  kind: Kind,
  key: ObjectKey,
  request: Request,
  signal: AbortSignal,
): Promise<FirstRead> {
  if (isReplay(request)) return readFirstLive(client, kind, key, signal);
  const self = changesOf(request, kind).find(isAt(key));
  if (self === undefined) return { entry: await store.entry(kind, key), family: undefined };
  const { entry, children } = await store.family(kind, key, self.uid);
  return { entry, family: { owner: self.uid, children } };
}

/** Reads the object of a request from the API server. */
export const readFirstLive = async (
  client: KubeClient,
  kind: Kind,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<FirstRead> => ({ live: await readLive(client, kind, key, signal) });

/** Reads an object from the API server; undefined when it does not exist. */
export const readLive = <T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<Stored<T> | undefined> => client.get(kind, key, signal).catch(undefinedIfGone);

/** The minimum version of the object that an attempt reads: never older than its causes. */
export function leastVersion(
  kind: Kind,
  key: ObjectKey,
  request: Request,
  read: FirstRead,
): ObjectVersion | undefined {
  const found = "live" in read ? read.live?.metadata : read.entry;
  const newest = newestVersion([found, ...changesOf(request, kind).filter(isAt(key))]);
  return newest && { uid: newest.uid, resourceVersion: newest.resourceVersion };
}

/** Whether an object has this key. */
export const isAt =
  (key: ObjectKey) =>
  ({ namespace, name }: ObjectKey): boolean =>
    namespace === key.namespace && name === key.name;

function undefinedIfGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
