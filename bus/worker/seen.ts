/**
 * Which versions a reconcile has seen. An event is old news to it only if all its decisions used that version or a newer one.
 * So of an object that is read more than once the first version counts, and one that an earlier read has not found does not
 * count at all: its event is to wake the key again.
 */
import type { ObjectName } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type ObjectVersion } from "../kube/object.ts";

/** Notes what a reconcile reads and writes. */
export interface SeenVersions {
  /**
   * A version that was written, over another one if that is known. `overtaken`: the write replaced a version that is newer than
   * the first one that was read, so the object has a change that some decisions did not use.
   */
  wrote(uid: string, resourceVersion: string, over?: string): "seen" | "overtaken";
  /** A read by name: the version that it found, if any, of an object that exists or is gone. */
  read(kind: Kind, at: ObjectName, version: ObjectVersion | undefined, state: "exists" | "gone"): void;
  /** As {@link SeenVersions.read}, from the API server: it corrects a read that has not found the object. */
  readLive(kind: Kind, at: ObjectName, version: ObjectVersion | undefined): void;
  /** All that was read of a collection, such as the children of an owner, including what is gone. */
  readAll(kind: Kind, collection: string, versions: Iterable<ObjectVersion>): void;
}

/** Fills a map by uid: the first version that was read, or the last one that was written. */
export function seenVersions(seen: Map<string, string>): SeenVersions {
  const absent = new Set<string>();
  const listed = new Set<string>();
  const late = new Set<string>();
  const nameOf = ({ group, kind }: Kind) => `${group} ${kind}`;
  const addressOf = (kind: Kind, { namespace = "", name }: ObjectName) =>
    `${nameOf(kind)} ${namespace} ${name}`;

  function note({ uid, resourceVersion }: ObjectVersion, when: "first" | "later"): void {
    if (seen.has(uid)) return;
    if (when === "later") late.add(uid);
    if (!late.has(uid)) seen.set(uid, resourceVersion);
  }

  const self: SeenVersions = {
    wrote(uid, resourceVersion, over) {
      const before = seen.get(uid);
      if (late.has(uid) || (before && over && compareVersions(over, before) > 0)) return "overtaken";
      if (before === undefined || compareVersions(resourceVersion, before) > 0)
        seen.set(uid, resourceVersion);
      return "seen";
    },
    read(kind, at, version, state) {
      const address = addressOf(kind, at);
      if (version) note(version, absent.has(address) ? "later" : "first");
      if (state === "gone") absent.add(address);
    },
    readLive(kind, at, version) {
      absent.delete(addressOf(kind, at));
      self.read(kind, at, version, version ? "exists" : "gone");
    },
    readAll(kind, collection, versions) {
      const name = `${nameOf(kind)} ${collection}`;
      for (const version of versions) note(version, listed.has(name) ? "later" : "first");
      listed.add(name);
    },
  };
  return self;
}
