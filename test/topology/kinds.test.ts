/** Two versions of a function side by side, the newer with one more kind. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { consumers, kindSubjects, objectSubject, streams } from "../../bus/subjects.ts";
import { ensureFunctions, ensureTopology, type FunctionSubscription } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
});
afterAll(() => local?.stop());

const scope = { fn: "shelves", cluster: "default" };
const [shelf, book] = ["Shelf", "Book"].map((kind) => ({ group: "g", kind })) as [
  FunctionSubscription["kinds"][number],
  FunctionSubscription["kinds"][number],
];
const options = { replicas: 1, ackWaitMillis: 5000 };
const older: FunctionSubscription = { scope, kinds: [shelf] };
const newer: FunctionSubscription = { scope, kinds: [shelf, book] };

const consumer = (subscription: FunctionSubscription) =>
  local.bus.js.consumers.get(streams.objects, consumers.router(subscription));
const publish = (kind: FunctionSubscription["kinds"][number], name: string) =>
  local.bus.js.publish(objectSubject("default", { ...kind, namespace: "n", owner: "", name }), name);

/** The names of the next routed messages, and how many more are pending. */
async function routed(subscription: FunctionSubscription, count: number): Promise<string[]> {
  const router = await consumer(subscription);
  const names: string[] = [];
  for await (const message of await router.fetch({ max_messages: count, expires: 60_000 })) {
    names.push(message.string());
    message.ack();
  }
  const { num_pending } = await router.info();
  return num_pending === 0 ? names : [...names, `and ${num_pending} more`];
}

test("the newer version receives existing objects, and the older one continues at its position", async () => {
  await ensureTopology(local.bus, options, [older]);
  await publish(shelf, "shelf-1");
  await publish(book, "book-1");
  expect(await routed(older, 1)).toEqual(["shelf-1"]);
  await ensureTopology(local.bus, options, [newer]);
  expect(await routed(newer, 2)).toEqual(["shelf-1", "book-1"]);
  // The older version starts again and changes nothing for the newer one.
  await ensureTopology(local.bus, options, [older]);
  await publish(shelf, "shelf-2");
  await publish(book, "book-2");
  expect(await routed(older, 1)).toEqual(["shelf-2"]);
  expect(await routed(newer, 2)).toEqual(["shelf-2", "book-2"]);
});

test("the order of kinds and indexes does not affect the consumer's name", () => {
  const name = consumers.router({ ...newer, indexes: ["a", "b"] });
  expect(consumers.router({ scope, kinds: [book, shelf, book], indexes: ["b", "a"] })).toBe(name);
  expect(consumers.router({ ...newer, indexes: ["a"] })).not.toBe(name);
  expect(consumers.router({ ...older, indexes: ["a", "b"] })).not.toBe(name);
});

test("listed kinds extend the filters of the same consumer, and a process with fewer kinds keeps the filters", async () => {
  const lister: FunctionSubscription = {
    scope: { ...scope, fn: "lister" },
    kinds: [shelf],
    ownsListed: true,
  };
  const page = { group: "g", kind: "Page" };
  const filters = async () => {
    const { config } = await local.bus.jsm.consumers.info(streams.objects, consumers.router(lister));
    return [...(config.filter_subjects ?? [config.filter_subject])].sort();
  };
  const subjects = (...kinds: FunctionSubscription["kinds"]) =>
    kinds.map((kind) => kindSubjects("default", kind)).sort();
  await ensureTopology(local.bus, options, [lister]);
  expect(await filters()).toEqual(subjects(shelf));
  await ensureTopology(local.bus, options, [{ ...lister, listed: [book] }]);
  expect(await filters()).toEqual(subjects(shelf, book));
  await ensureTopology(local.bus, options, [{ ...lister, listed: [page] }]);
  await ensureFunctions(local.bus, options, [lister]);
  expect(await filters()).toEqual(subjects(shelf, book, page));
  const { ownsListed: _, ...before } = lister;
  expect(consumers.router(before), "a version that lists none has its own").not.toBe(
    consumers.router(lister),
  );
});
