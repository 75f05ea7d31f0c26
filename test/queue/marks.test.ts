/** Marks of owned keys, on a real server whose schedules fire. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import type { Inbox } from "../../bus/nats/inbox.ts";
import { lastValuesOf } from "../../bus/nats/lastvalues.ts";
import { isCovered, type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest, parseRequest, type Request } from "../../bus/queue/request.ts";
import { keyText, type ObjectKey, parseKeySubject, timersStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { random } from "../harness/random.ts";

const scope = { fn: "marked", cluster: "local" };
const polling = { timeout: 30_000, interval: 50 };
let local: LocalBus;
let bus: Bus;
let queue: TicketQueue;
/** A queue whose marks do not fall due during a test. */
const patient = (replica: string): TicketQueue => ticketQueue(bus, scope, { replica, markMillis: 600_000 });
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  const subscription = { scope, kinds: [{ group: "", kind: "Secret" }] };
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 }, [subscription]);
  queue = ticketQueue(bus, scope, { replica: "replica-1" });
});
afterAll(() => local?.stop());

const changeTo = (version: number, uid = "uid"): Request =>
  newRequest({
    type: "object",
    group: "",
    kind: "Secret",
    namespace: "default",
    name: "changed",
    uid,
    resourceVersion: String(version),
  });

/** Keys that have a ticket. No worker pulls in these tests, so the tickets remain. */
async function owned(prefix: string, count: number): Promise<ObjectKey[]> {
  const keys = Array.from({ length: count }, (_, at) => ({ namespace: "default", name: `${prefix}-${at}` }));
  await Promise.all(keys.map((key) => queue.request(key, newRequest({ type: "replay" }))));
  return keys;
}

const versionOf = ({ cause }: Request): string =>
  cause.type === "object" ? cause.resourceVersion : cause.type;

const versionsOf = async (key: ObjectKey): Promise<string[]> =>
  (await queue.marks(key)).map(({ request }) => versionOf(request));

/** Matching subjects in the timers stream. */
const subjects = async (filter: string): Promise<string[]> =>
  Object.keys(
    (await bus.jsm.streams.info(timersStream(scope.fn), { subjects_filter: filter })).state.subjects ?? {},
  );

test("a mark that is stored while an older one of its object fires still fires", async () => {
  const seed = 7;
  const next = random(seed);
  const keys = await owned("firing", 1500);
  await Promise.all(
    keys.map(async (key) => {
      await queue.request(key, changeTo(1));
      // Schedules fire 1 to 1.25 seconds after they were stored.
      await sleep(1000 + 250 * next());
      await queue.request(key, changeTo(2));
    }),
  );
  await expect.poll(() => subjects("marks.at.>"), polling).toEqual([]);
  const fired = await lastValuesOf(bus, timersStream(scope.fn))("marks.due.>");
  const second = fired.filter((value) => versionOf(parseRequest(value.string())) === "2");
  const firedKeys = new Set(second.map(({ subject }) => keyText(parseKeySubject(subject).key)));
  const lost = keys.map(keyText).filter((key) => !firedKeys.has(key));
  expect(lost).toEqual([]);
});

test("a newer mark of an object replaces the older ones", async () => {
  const queue = patient("replica-1");
  const [one, many] = (await owned("piling", 2)) as [ObjectKey, ObjectKey];
  for (const version of [1, 2, 3]) await queue.request(one, changeTo(version));
  expect(await versionsOf(one)).toEqual(["3"]);
  await Promise.all(Array.from({ length: 100 }, (_, at) => queue.request(many, changeTo(at + 1))));
  expect(await versionsOf(many)).toEqual(["100"]);
});

test("an older mark that arrives late is dropped; marks of other objects and replicas remain", async () => {
  const queue = patient("replica-1");
  const [key] = (await owned("beside", 1)) as [ObjectKey];
  await queue.request(key, changeTo(5));
  await queue.request(key, changeTo(4));
  await queue.request(key, changeTo(6, "another"));
  await queue.request(key, changeTo(7, "another"));
  const elsewhere = patient("replica-2");
  await elsewhere.request(key, changeTo(2));
  await elsewhere.request(key, changeTo(3));
  expect((await versionsOf(key)).sort()).toEqual(["3", "5", "7"]);
});

test("a newer mark waits for an older one whose answer was lost, and replaces it", async () => {
  const [key] = (await owned("retried", 1)) as [ObjectKey];
  const lost = Promise.withResolvers<never>();
  let tries = 0;
  const inbox: Inbox = {
    ...bus.inbox,
    request: (subject, data, options) =>
      subject.endsWith(".2") && tries++ === 0 ? lost.promise : bus.inbox.request(subject, data, options),
  };
  const queue = ticketQueue({ ...bus, inbox }, scope, { replica: "replica-1", markMillis: 600_000 });
  await queue.request(key, changeTo(1));
  const second = queue.request(key, changeTo(2));
  await expect.poll(() => tries).toBe(1);
  const third = queue.request(key, changeTo(3));
  lost.reject(new Error("the answer was lost"));
  await Promise.all([second, third]);
  expect(await versionsOf(key)).toEqual(["3"]);
});

test("a request with several causes leaves one mark per cause, each replaced only by its own newer one", async () => {
  const queue = patient("replica-1");
  const [key] = (await owned("several", 1)) as [ObjectKey];
  await queue.request(key, { ...changeTo(1, "a"), also: [changeTo(1, "b").cause] });
  await queue.request(key, changeTo(2, "a"));
  const marks = await queue.marks(key);
  const versions = marks.map(
    ({ request: { cause } }) => cause.type === "object" && [cause.uid, cause.resourceVersion],
  );
  expect(versions.sort()).toEqual([
    ["a", "2"],
    ["b", "1"],
  ]);
});

test("a correction is never covered, and keeps its mark beside one of its version", async () => {
  const queue = patient("replica-1");
  const [key] = (await owned("corrected", 1)) as [ObjectKey];
  const plain = changeTo(5);
  if (plain.cause.type !== "object") throw new Error("expected a change of an object");
  const correction = newRequest({ ...plain.cause, correction: true });
  await queue.request(key, correction);
  await queue.request(key, plain);
  expect(await versionsOf(key)).toEqual(["5", "5"]);
  const seen = new Map([[plain.cause.uid, "9"]]);
  expect([isCovered(plain, seen), isCovered(correction, seen)]).toEqual([true, false]);
});

test("dropping marks keeps those that were stored after the read", async () => {
  const queue = patient("replica-1");
  const [key] = (await owned("dropped", 1)) as [ObjectKey];
  await queue.request(key, changeTo(1));
  await queue.request(key, changeTo(1, "another"));
  const read = await queue.marks(key);
  await queue.request(key, changeTo(2));
  await queue.dropMarks(key, read);
  expect(await versionsOf(key)).toEqual(["2"]);
});

test("a mark is covered when all its changes were seen", () => {
  const request = { ...changeTo(5, "a"), also: [changeTo(9, "b").cause] };
  expect(isCovered(request, new Map(Object.entries({ a: "5", b: "9" })))).toBe(true);
  expect(isCovered(request, new Map(Object.entries({ a: "10", b: "10" })))).toBe(true);
  expect(isCovered(request, new Map(Object.entries({ a: "5", b: "8" })))).toBe(false);
  expect(isCovered(request, new Map(Object.entries({ a: "4", b: "9" })))).toBe(false);
  expect(isCovered(request, new Map())).toBe(false);
  expect(isCovered(newRequest({ type: "timer" }), new Map(Object.entries({ a: "5" })))).toBe(false);
});
