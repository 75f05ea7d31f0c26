/** Waits until all work is done: nothing is unpublished, queued, or in flight. */

import { type KubeClient, metadataOnly } from "../../bus/kube/client.ts";
import { optInLabel } from "../../bus/kube/domain.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import { type Kind, Namespace } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { consumers, streams, timersStream, workStream } from "../../bus/subjects.ts";
import { kindsOf, type ReconcileFunction, subscriptionOf } from "../../bus/worker/function.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import { existing } from "./agreement.ts";

/** What to check. */
export interface QuietOptions {
  /** As the administrator. */
  readonly bus: Bus;
  readonly client: KubeClient;
  readonly functions: readonly ReconcileFunction[];
  /** The only namespaces that bridges watch; all by default. */
  readonly watched?: readonly string[] | undefined;
}

const cluster = "default";
const deadlineMillis = 60_000;
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Resolves when everything is idle, except for requests that are not due yet. */
export function untilQuiet({ bus, client, functions, watched }: QuietOptions): Promise<void> {
  const store = objectStore(bus, cluster);
  const kinds = new Map(functions.flatMap(kindsOf).map((kind) => [kind.plural, kind]));

  async function left(stream: string, consumer: string): Promise<number> {
    const { num_pending, num_ack_pending } = await bus.jsm.consumers.info(stream, consumer);
    return num_pending + num_ack_pending;
  }

  /** Events, requests, and marks of a function. */
  async function waiting(fn: ReconcileFunction): Promise<number> {
    const scope = { fn: fn.name, cluster };
    const marks = bus.jsm.streams.info(timersStream(fn.name), { subjects_filter: "marks.>" });
    return sum([
      await left(streams.objects, consumers.router(subscriptionOf(fn, cluster))),
      fn.webhooks.length === 0 ? 0 : await left(streams.webhooks, consumers.webhooks(scope)),
      Object.keys((await marks).state.subjects ?? {}).length,
      // Last, because the others turn into it.
      await left(workStream(fn.name), consumers.worker(scope)),
    ]);
  }

  /** The opted-in namespaces. */
  async function optedIn(): Promise<ReadonlySet<string>> {
    const query = { labelSelector: `${optInLabel}=true` };
    const { items } = await client.list(Namespace, undefined, query, undefined, metadataOnly.list);
    return new Set(items.map(({ metadata }) => metadata.name));
  }

  /** The number of objects of a kind whose version on the bus differs from that in the API server. */
  async function unpublished(kind: Kind, names: ReadonlySet<string>): Promise<number> {
    const [{ items }, entries] = await Promise.all([
      // A kind that is not installed has no objects.
      client.list(kind, undefined, {}, undefined, metadataOnly.list).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return { items: [] };
      }),
      store.entries(kind),
    ]);
    const isWatched = ({ metadata: { namespace = "" } }: Stored) =>
      (kind.reach === "all" || names.has(namespace)) && (watched?.includes(namespace) ?? true);
    const versions = (objects: readonly Stored[]) =>
      objects.filter(isWatched).map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);
    const [api, onBus] = [versions(items), versions(existing(entries))];
    return new Set([...api, ...onBus]).size * 2 - api.length - onBus.length;
  }

  const events = async () => (await bus.jsm.streams.info(streams.objects)).state.last_seq;

  const unsettled = async (): Promise<number> => {
    const before = await events();
    const waits = sum(await Promise.all(functions.map(waiting)));
    // Most polls end here, with requests to the bus only.
    if (waits > 0) return waits;
    const names = await optedIn();
    const differ = sum(await Promise.all([...kinds.values()].map((kind) => unpublished(kind, names))));
    // Work that started and ended in between was started by an event.
    return differ + (await events()) - before;
  };

  return poll(
    "all functions to be idle",
    async () => {
      const count = await unsettled();
      if (count !== 0) throw new Error(`${count} still in progress`);
    },
    { timeoutMillis: deadlineMillis, intervalMillis: 50 },
  );
}
