/** Activity records when the bus is down, full of other records, or of another version; and the in-flight question. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CausalLimits, causalHistory } from "../../bus/activity/causality/search.ts";
import { searchActivity } from "../../bus/activity/history.ts";
import { askInFlight, openInFlight } from "../../bus/activity/inflight.ts";
import type { EndedReconcile } from "../../bus/activity/record.ts";
import { activityReporter } from "../../bus/activity/reporter.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { readAll } from "../../bus/nats/lastvalues.ts";
import { type Permissions, workerRole } from "../../bus/permissions.ts";
import { activity, activityStream, type ObjectKey, parseKeySubject } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { childTrace, newTrace, traceId } from "../../bus/tracing/trace.ts";
import { startLocalNats } from "../../deploy/local/index.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { programs } from "../harness/programs.ts";

await programs("nats-server");

const scope = { fn: "songs", cluster: "default" };
const options = { replicas: 1, ackWaitMillis: 10_000 };
const patience = { timeout: 60_000, interval: 20 };

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
  await ensureTopology(
    local.bus,
    options,
    ["songs", "others"].map((fn) => ({ scope: { ...scope, fn }, kinds: [] })),
  );
});
afterAll(() => local?.stop());

const at = (name: string, namespace = "default"): ObjectKey => ({ namespace, name });
const ended = (facts: Partial<EndedReconcile> = {}): EndedReconcile => ({
  ...{ replica: "worker-1", group: "g", kind: "Song", attempt: 0, outcome: "success" },
  ...{ startedAt: Date.now(), waitedMillis: 1, tookMillis: 1, causes: [{ type: "timer" }] },
  ...{ writes: [], writeCount: 0, traceparent: newTrace() },
  ...facts,
});
const searchScope = {
  cluster: "default",
  functions: ["songs", "others", "gone"],
  namespaces: "every",
} as const;
async function names(): Promise<string[]> {
  const found: string[] = [];
  const stream = activityStream(scope.fn);
  for await (const { subject } of readAll(local.bus, stream, { filter: activity.all(scope), from: 1 }))
    found.push(parseKeySubject(subject).key.name);
  return found;
}

test("records reported while the bus is down are lost, and no others", async () => {
  const report = activityReporter(local.bus.nc);
  const statuses: string[] = [];
  void (async () => {
    for await (const { type } of local.bus.nc.status()) statuses.push(type);
  })();
  report(scope, at("before"), ended());
  await expect.poll(names, patience).toEqual(["before"]);
  await local.nats.stop("SIGKILL");
  await expect.poll(() => statuses, patience).toContain("disconnect");
  for (let n = 0; n < 10_000; n++) report(scope, at("meanwhile"), ended());
  await local.nats.start();
  await expect.poll(() => statuses, patience).toContain("reconnect");
  report(scope, at("after"), ended());
  await expect.poll(names, patience).toEqual(["before", "after"]);
});

test("pauses reporting when an older server refuses the subject, and keeps the connection", async () => {
  const { permissions } = workerRole("songs", [{ scope, kinds: [] }]);
  const older: Permissions = {
    ...permissions,
    publish: permissions.publish.filter((subject) => !subject.startsWith("activities.")),
  };
  const nats = await startLocalNats({ roles: [{ name: "songs", permissions: older, account: "own" }] });
  const bus = await connectBus({ url: nats.natsUrlFor("songs"), name: "test" });
  try {
    const refused: string[] = [];
    void (async () => {
      for await (const status of bus.nc.status()) if (status.type === "error") refused.push(status.type);
    })();
    const report = activityReporter(bus.nc);
    report(scope, at("one"), ended());
    await expect.poll(() => refused.length, patience).toBe(1);
    for (let n = 0; n < 100; n++) report(scope, at("another"), ended());
    await bus.nc.flush();
    await new Promise(setImmediate);
    expect(refused).toHaveLength(1);
    expect(bus.nc.isClosed()).toBe(false);
  } finally {
    await bus.nc.close();
    await nats.stop();
  }
});

test("finds an object by its reconciles and writes, and a trace by its id; the newest records, in order", async () => {
  const { nc } = local.bus;
  const report = activityReporter(nc);
  const write = { verb: "create", group: "", kind: "Pod", resourceVersion: "7", ...at("pod") } as const;
  const trace = newTrace();
  report(scope, at("song"), ended({ traceparent: trace }));
  report({ ...scope, fn: "others" }, at("writer"), ended({ writes: [write], writeCount: 1 }));
  report(scope, at("song"), ended({ traceparent: childTrace(trace), kind: "Opera" }));
  report(scope, at("song", "elsewhere"), ended({ traceparent: childTrace(trace) }));
  report(scope, at("song"), ended({ attempt: 1 }));
  nc.publish(activity.of(scope, at("song")), "no record");
  nc.publish("activities.songs.x", "no key");
  await expect.poll(async () => (await names()).filter((name) => name === "song").length, patience).toBe(5);
  await nc.flush();
  const search = async (
    searched: Parameters<typeof searchActivity>[2],
    limit = 10,
    namespaces?: string[],
  ) => {
    const { found, before } = await searchActivity(
      local.bus,
      { ...searchScope, ...(namespaces && { namespaces }) },
      searched,
      { limit, millis: 60_000 },
    );
    const shown = found.map(({ fn, key, record }) => [
      fn,
      key.namespace,
      key.name,
      record.kind,
      record.attempt,
    ]);
    return { found: shown, more: before !== undefined };
  };
  const song = { group: "g", kind: "Song", ...at("song") };
  const [first, last] = [0, 1].map((attempt) => ["songs", "default", "song", "Song", attempt]);
  expect(await search({ object: song })).toEqual({ found: [first, last], more: false });
  expect(await search({ object: song }, 1)).toEqual({ found: [last], more: true });
  expect((await search({ object: { group: "", kind: "Pod", ...at("pod") } })).found).toEqual([
    ["others", "default", "writer", "Song", 0],
  ]);
  const opera = ["songs", "default", "song", "Opera", 0];
  const elsewhere = ["songs", "elsewhere", "song", "Song", 0];
  for (const name of [trace, String(traceId(trace)), String(traceId(trace)).toUpperCase()])
    expect((await search({ trace: name })).found).toEqual([first, opera, elsewhere]);
  expect((await search({ trace }, 10, ["elsewhere"])).found).toEqual([elsewhere]);
  expect((await search({ trace }, 10, ["default", "elsewhere", "default"])).found).toEqual([
    first,
    opera,
    elsewhere,
  ]);
});

test("a search that reaches its time limit continues from its cursor", async () => {
  const report = activityReporter(local.bus.nc);
  report(scope, at("needle"), ended());
  for (let n = 0; n < 20_000; n++) report(scope, at(`hay-${n}`), ended());
  await local.bus.nc.flush();
  await expect
    .poll(async () => (await local.bus.jsm.streams.info(activityStream(scope.fn))).state.messages, patience)
    .toBeGreaterThan(20_000);
  const object = { group: "g", kind: "Song", ...at("needle") };
  const found: string[] = [];
  let searches = 0;
  for (
    let before: bigint | undefined = BigInt(Date.UTC(2100, 0)) * 1_000_000n;
    before !== undefined;
    searches++
  ) {
    // Without any time, each search reads one part of the stream.
    const answer = await searchActivity(local.bus, searchScope, { object }, { before, limit: 10, millis: 0 });
    found.push(...answer.found.map(({ key }) => key.name));
    expect(answer.before === undefined || answer.before < before).toBe(true);
    before = answer.before;
  }
  expect(found).toEqual(["needle"]);
  expect(searches).toBeGreaterThan(1);
});

test("a causal history reaches over other records and streams, within its limits and namespaces", async () => {
  const report = activityReporter(local.bus.nc);
  const others = { ...scope, fn: "others" };
  const version = { group: "g", kind: "Opera", ...at("opera", "elsewhere"), resourceVersion: "900" };
  const written = { writes: [{ verb: "create", ...version } as const], writeCount: 1 };
  const delivery = { type: "webhook", provider: "github", event: "push", delivery: "d-1" } as const;
  report(scope, at("cause"), ended({ causes: [delivery], ...written }));
  for (let n = 0; n < 2000; n++) report(scope, at(`between-${n}`), ended());
  report(others, at("opera", "elsewhere"), ended({ causes: [{ type: "object", uid: "u", ...version }] }));
  for (let n = 0; n < 2000; n++) report(scope, at(`after-${n}`), ended());
  const lastOf = async (fn: string) => (await local.bus.jsm.streams.info(activityStream(fn))).state.last_seq;
  await expect.poll(async () => (await names()).includes("after-1999"), patience).toBe(true);
  const entry = { type: "reconcile", function: "others", sequence: await lastOf("others") } as const;
  const read = (limits?: CausalLimits, namespaces: readonly string[] | "every" = "every") =>
    causalHistory(local.bus, { ...searchScope, namespaces }, entry, { millis: 60_000, ...limits });

  const whole = await read();
  expect(whole).toMatchObject({ origin: delivery, isOriginOpen: false, until: undefined, omitted: 0 });
  const [cause] = whole?.threads[0]?.runs ?? [];
  const [effect] = (cause?.type === "reconcile" && cause.threads[0]?.runs) || [];
  expect([cause, effect].map((run) => run?.type === "reconcile" && run.activity.key.name)).toEqual([
    "cause",
    "opera",
  ]);
  const change = { type: "change", resourceVersion: "900" };
  const part = await read({ records: 1 });
  expect(part).toMatchObject({ origin: change, isOriginOpen: true, until: expect.any(Number) });
  expect(whole?.before).toBeUndefined();
  expect(await read({}, ["elsewhere"])).toMatchObject({ origin: change, isOriginOpen: false });
  expect(await read({}, ["default"])).toBeUndefined();
  const gone = { ...entry, sequence: entry.sequence + 1 };
  expect(await causalHistory(local.bus, searchScope, gone)).toBeUndefined();
});

test("the records of an object in a loop do not push out those of other objects", async () => {
  const report = activityReporter(local.bus.nc);
  for (let n = 0; n < 500; n++) report(scope, at("loop"), ended({ attempt: n }));
  await local.bus.nc.flush();
  const kept = async () => (await names()).filter((name) => name === "loop").length;
  await expect.poll(kept, patience).toBe(200);
  const { config } = await local.bus.jsm.streams.info(activityStream(scope.fn));
  expect(config.max_msgs).toBeGreaterThan(200);
  expect(await names()).toContain("after");
});

test("workers answer with their objects in flight until these end", async () => {
  const { nc } = local.bus;
  const of = { group: "g", kind: "Song" };
  const [one, two] = ["worker-1", "worker-2"].map((replica) => openInFlight(nc, scope, { replica, ...of }));
  const traceparent = newTrace();
  const release = one?.track(at("song"), 3, traceparent);
  // Workers answer at once, but a busy machine may not.
  const patient = { first: 20_000, next: 1000 };
  const inFlight = async (patience?: typeof patient) =>
    (await askInFlight(local.bus, "default", patience)).map(({ replica, work }) => [
      replica,
      work.map(({ name }) => name),
    ]);
  expect(await inFlight(patient)).toEqual([
    ["worker-1", ["song"]],
    ["worker-2", []],
  ]);
  const [answer] = await askInFlight(local.bus, "default", patient);
  expect(answer).toEqual({
    ...{ replica: "worker-1", function: "songs", ...of, more: 0 },
    work: [{ ...at("song"), since: expect.any(Number), attempt: 3, trace: traceId(traceparent) }],
  });
  release?.();
  for (let n = 0; n < 150; n++) two?.track(at(`many-${n}`), 0, newTrace());
  const many = (await askInFlight(local.bus, "default", patient))[1];
  expect(many?.work.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, n) => `many-${n}`));
  expect(many?.more).toBe(50);
  expect(await askInFlight(local.bus, "elsewhere", { first: 100, next: 100 })).toEqual([]);
  one?.stop();
  two?.stop();
  expect(await inFlight()).toEqual([]);
});
