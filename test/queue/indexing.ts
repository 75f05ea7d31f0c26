/** Indexed objects on a real server, with the steps of the bridge and of a function's router. */
import { afterAll, beforeAll } from "vitest";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { type Indexes, openIndexes } from "../../bus/objects/indexes.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { type ObjectKey, streams, indexes as subjects } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";

/** The indexed kind. */
export const Thing = externalKind<KubeObject<{ values: string[]; other?: string }>>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});
export type Thing = Stored<KubeObject<{ values: string[]; other?: string }>>;

/** The cluster of the objects. */
export const cluster = "test";
/** Time limit for changes on the bus. */
export const polling = { timeout: 30_000, interval: 50 };

/** The bus and publisher of one test file. */
export let bus: Bus;
export let publisher: Publisher;

/** Starts the bus before the tests of a file, and stops it after them. */
export function withIndexes(): void {
  let local: LocalBus | undefined;
  beforeAll(async () => {
    local = await startLocalBus();
    bus = local.bus;
    await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 });
    publisher = await publisherOf(bus, Thing);
  });
  afterAll(() => local?.stop());
}

/** The index definitions of all functions in these tests. */
export const definitions = {
  value: (thing: Stored) => (thing as Thing).spec.values,
  other: (thing: Stored) => [(thing as Thing).spec.other ?? ""],
};
/** A function's indexes in one process. */
export const replica = (fn: string): Indexes =>
  openIndexes(bus, { fn, cluster }, Thing, definitions, objectStore(bus, cluster));

let version = 0;

/** An object with a newer version than any before. */
export const thing = (name: string, values: string[], uid = `uid-of-${name}`, other?: string): Thing => {
  const object = stored(Thing, name, ++version, { values, ...(other !== undefined && { other }) });
  return { ...object, metadata: { ...object.metadata, uid } };
};
/** The key of an object. */
export const keyOf = ({ metadata: { namespace = "", name } }: Stored): ObjectKey => ({ namespace, name });

/** Publishes a change as the bridge does, then indexes the object as the router does. */
export async function change(indexes: Indexes, object: Thing): Promise<Thing> {
  await publisher.publish("modified", object, "watch");
  await publisher.settled();
  await indexes.keep(keyOf(object), object);
  return object;
}

/** Publishes a deletion as the bridge does; the router has nothing to do. */
export async function remove(object: Thing): Promise<void> {
  const metadata = { ...object.metadata, resourceVersion: String(++version) };
  await publisher.publish("deleted", { ...object, metadata }, "watch");
  await publisher.settled();
}

/** Names of the objects with a value, sorted. */
export const found = async (indexes: Indexes, value: string, index = "value"): Promise<string[]> =>
  (await indexes.find(index, value)).map(({ name }) => name).sort();

/** Subjects of a function's existing entries. */
export const entries = async (fn: string): Promise<string[]> => {
  const subjects_filter = subjects.all({ fn, cluster });
  const { state } = await bus.jsm.streams.info(streams.indexes, { subjects_filter });
  return Object.keys(state.subjects ?? {}).sort();
};
/** The last sequence of the index stream. */
export const lastSequence = async () => (await bus.jsm.streams.info(streams.indexes)).state.last_seq;
