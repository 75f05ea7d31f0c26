/** Publishes objects as the bridge does, for tests of its consumers. */
import { openPublisher, type Publisher } from "../../bus/bridge/publisher.ts";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";

/** A publisher for one kind of the cluster `test`, as after its first list. */
export async function publisherOf(bus: Bus, kind: Kind): Promise<Publisher> {
  const publisher = await openPublisher({
    bus,
    cluster: "test",
    kind,
    signal: new AbortController().signal,
    onPublished: () => undefined,
  });
  publisher.trust();
  return publisher;
}

/** An object as the API server would store it. */
export const stored = <T extends KubeObject>(
  kind: Kind<T>,
  name: string,
  version: number,
  spec: T["spec"],
): Stored<T> =>
  ({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { namespace: "default", name, uid: `uid-of-${name}`, resourceVersion: String(version) },
    spec,
  }) as Stored<T>;
