/** What happens to objects of several kinds, told in the order in which it happened. */
import type { Kind } from "../../../bus/kube/kind.ts";
import { compareVersions, type KubeObject, type Stored } from "../../../bus/kube/object.ts";
import { follow } from "./follow.ts";
import type { Play } from "./story.ts";

/** Something that happened. */
export interface Fact {
  readonly by: string;
  readonly what: string;
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
const holdMillis = 250;

/** Begins one, until the play is over. */
export async function chronicle(
  { stage: { client }, namespace, signal }: Play,
  topics: readonly Topic[],
  step: (by: string, what: string) => void,
): Promise<Chronicle> {
  const known: { readonly version: string; readonly at: number; readonly fact: Fact }[] = [];
  // The end of a local API server, which ends watches, is told of anyway.
  const common = { client, namespace, signal, onTrouble: () => undefined };
  await Promise.all(
    topics.map((topic) =>
      follow({
        ...common,
        kind: topic.kind,
        each(type, object) {
          const fact = topic.fact(type, object);
          if (fact) known.push({ version: object.metadata.resourceVersion, at: performance.now(), fact });
        },
      }),
    ),
  );
  return {
    tell() {
      known.sort((a, b) => compareVersions(a.version, b.version));
      const news = known.findIndex(({ at }) => performance.now() - at < holdMillis);
      for (const { fact } of known.splice(0, news < 0 ? known.length : news)) step(fact.by, fact.what);
      return known.length === 0;
    },
  };
}
