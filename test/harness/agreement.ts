/** Compares the objects on the bus with those in the API server. */
import { setTimeout as sleep } from "node:timers/promises";
import { publishable } from "../../bus/events/kubernetes.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Entry, ObjectStore } from "../../bus/objects/store.ts";
import { keyText } from "../../bus/subjects.ts";
import notes from "../fixtures/functions/notes.ts";

/** The objects that exist according to the bus. Partial objects count: one whose deletion is not published yet is a difference. */
export const existing = (entries: readonly Entry[]): Stored[] =>
  entries.filter(({ deleted }) => !deleted).map(({ object }) => object);

/** Objects by name, reduced to the fields that the bridge publishes. */
const byName = (kind: Kind, objects: readonly Stored[]) =>
  new Map(
    objects
      .map((object) =>
        publishable(kind, { ...object, apiVersion: "", kind: kind.kind }, new Set(notes.annotations)),
      )
      .map((object) => [keyText({ namespace: "", ...object.metadata }), JSON.stringify(object)]),
  );

/** Where the bridge of a test watches a kind: all namespaces, or the opted-in one. */
export const watchedIn = ({ reach }: Kind): string | undefined =>
  reach === "opted-in" ? "default" : undefined;

/** The differences, one line per object. */
export async function differences(client: KubeClient, store: ObjectStore, kind: Kind): Promise<string[]> {
  const [{ items }, entries] = await Promise.all([client.list(kind, watchedIn(kind)), store.entries(kind)]);
  const [api, onBus] = [byName(kind, items), byName(kind, existing(entries))];
  const short = (text = "nothing") => (text.length > 1000 ? `${text.slice(0, 1000)}…` : text);
  return [...new Set([...api.keys(), ...onBus.keys()])]
    .filter((name) => api.get(name) !== onBus.get(name))
    .map((name) => `${name}: the API says ${short(api.get(name))}, the bus ${short(onBus.get(name))}`);
}

/** Resolves when the bus has exactly the objects of the API server; rejects with the differences. */
export async function untilBusAgrees(
  client: KubeClient,
  store: ObjectStore,
  kind: Kind,
  deadlineMillis: number,
): Promise<void> {
  let found: string[] = ["nothing was compared"];
  for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(50)) {
    // A bus or an API server that a test killed may not answer yet.
    found = await differences(client, store, kind).catch((error) => [String(error)]);
    if (found.length === 0) return;
  }
  throw new Error(`no agreement within ${deadlineMillis} ms. ${found.slice(0, 5).join("\n")}`);
}
