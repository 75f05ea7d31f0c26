/** What happens to objects of several kinds, told in the order in which it happened. */
import type { Kind } from "../../../bus/kube/kind.ts";
import {
  compareVersions,
  type KubeObject,
  type ObjectVersion,
  type Stored,
} from "../../../bus/kube/object.ts";
import { follow } from "./follow.ts";
import type { Steps } from "./story.ts";

/** Something that happened. */
export interface Fact {
  readonly by: string;
  readonly what: string;
  /** Done with this version of an object, by who writes of it on their own time: before the next that is told of the object. */
  readonly seen?: ObjectVersion;
}

/** What is worth telling of changes of a kind's objects. */
export interface Topic<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  fact(type: "ADDED" | "MODIFIED" | "DELETED", object: Stored<T>): Fact | undefined;
}

/** What has happened since it was begun. */
export interface Chronicle {
  /** Tells what it has not told yet; whether that was all that is known. */
  tell(): boolean;
}

/** Changes of different kinds arrive so far apart from each other at most. Milliseconds. */
const holdMillis = 1000;

interface Known extends ObjectVersion {
  readonly at: number;
  readonly fact: Fact;
}

/** Sorts by the version of the store, which counts all writes, and what was done with an object before what came of that. */
export function inOrder(known: Known[]): void {
  const places = new Map(
    known.map((one) => {
      const { seen } = one.fact;
      const later = known.filter(
        ({ uid, resourceVersion }) =>
          uid === seen?.uid && compareVersions(resourceVersion, seen.resourceVersion) > 0,
      );
      const versions = [one, ...later].map(({ resourceVersion }) => resourceVersion);
      return [one, versions.sort(compareVersions)[0] ?? ""];
    }),
  );
  const place = (one: Known): string => places.get(one) ?? "";
  const isDeed = ({ fact }: Known): number => Number(fact.seen !== undefined);
  known.sort((a, b) => compareVersions(place(a), place(b)) || isDeed(b) - isDeed(a));
}

/** Begins one, until the play is over. */
export async function chronicle(
  { environment: { client }, namespace, signal }: Steps,
  topics: readonly Topic[],
  step: (by: string, what: string) => void,
): Promise<Chronicle> {
  const known: Known[] = [];
  // The end of a local API server, which ends watches, is told of anyway.
  const common = { client, namespace, signal, onTrouble: () => undefined };
  await Promise.all(
    topics.map((topic) =>
      follow({
        ...common,
        kind: topic.kind,
        each(type, object) {
          const fact = topic.fact(type, object);
          if (fact) known.push({ ...object.metadata, at: performance.now(), fact });
        },
      }),
    ),
  );
  return {
    tell() {
      inOrder(known);
      const news = known.findIndex(({ at }) => performance.now() - at < holdMillis);
      for (const { fact } of known.splice(0, news < 0 ? known.length : news)) step(fact.by, fact.what);
      return known.length === 0;
    },
  };
}
