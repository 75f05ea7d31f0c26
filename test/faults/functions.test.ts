/** Functions that misbehave: the object says so, the others go on, nothing loops hot, nothing is lost. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import type { Condition, Stored } from "../../bus/kube/object.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { consumers, parseKeySubject, workStream } from "../../bus/subjects.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type Kit, type Replica, startKit } from "../harness/kit.ts";

const paths = ["probe", "branches"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
);
const scope = { fn: "probe", cluster: "default" };
let kit: Kit;
let bus: Bus;
let bridge: Replica;
let workers: Replica[];

beforeAll(async () => {
  kit = await startKit({ crds: [Probe, Branch].map((kind) => crdOf(kind)) });
  bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
  const env = { DENREI_ACK_WAIT_SECONDS: "3" };
  bridge = await kit.bridge("bridge-1", { args: paths, env });
  workers = await Promise.all([1, 2].map((n) => kit.worker(`worker-${n}`, paths, { env })));
});
afterAll(async () => {
  await bus?.nc.close();
  await kit?.stop();
});

const patience = { timeout: 60_000, interval: 20 };
const at = (name: string) => ({ namespace: "default", name });
const create = (name: string, spec: Probe["spec"]) =>
  kit.client.create(
    Probe,
    { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: at(name), spec },
    { fieldManager: "test" },
  );
const change = (name: string, spec: Partial<Probe["spec"]>) =>
  kit.client.mergePatch(Probe, at(name), { spec }, { fieldManager: "test" });
const condition = ({ status }: Stored<Probe>, type: string): Condition | undefined =>
  status?.conditions?.find((one) => one.type === type);
const isReady = (probe: Stored<Probe>) => condition(probe, "Ready")?.status === "True";
const isStalled = (probe: Stored<Probe>) => condition(probe, "Stalled")?.status === "True";
const byTime = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  String(a.time).localeCompare(String(b.time));
/** Starts of the function for an object, over all workers and their former lives. */
const runs = (name: string) => warnings(name, "probing");
const untilRuns = (name: string, count: number) =>
  vi.waitFor(() => expect(runs(name).length).toBeGreaterThanOrEqual(count), patience);
const warnings = (name: string, msg: string) =>
  workers
    .flatMap(({ log }) => log.records())
    .filter((record) => record.msg === msg && record.key === `default/${name}`)
    .sort(byTime);

describe.concurrent("a function beside others", () => {
  test("one that throws is retried with growing pauses, says so, and recovers", async ({ expect }) => {
    await create("throws", { mode: "throw" });
    const found = await kit.until(Probe, at("throws"), isStalled);
    expect(condition(found, "Stalled")).toMatchObject({
      reason: "Retrying",
      message: "the probe was told to throw",
    });
    const failures = warnings("throws", "reconcile failed");
    expect(failures.map(({ failed }) => failed)).toEqual(failures.map((_, i) => i + 1));
    await change("throws", { mode: "ok" });
    await kit.until(Probe, at("throws"), (probe) => isReady(probe) && !isStalled(probe));
  });

  test("one that gives up gets a condition and a dead letter, no retry, and can be replayed", async ({
    expect,
  }) => {
    await create("terminal", { mode: "terminal" });
    const found = await kit.until(Probe, at("terminal"), isStalled);
    expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "ToldSo" });
    const letters = deadLetters(bus, scope);
    expect(await letters.get(at("terminal"))).toMatchObject({ reason: "ToldSo", attempts: 1 });
    expect(runs("terminal")).toHaveLength(1);
    await letters.replay(ticketQueue(bus, scope, { replica: "test" }), at("terminal"));
    await untilRuns("terminal", 2);
    await change("terminal", { mode: "ok" });
    await kit.until(Probe, at("terminal"), (probe) => isReady(probe) && !isStalled(probe));
    await expect.poll(() => letters.get(at("terminal")), patience).toBeUndefined();
  });

  test("one that gives up is not run again for a change that it has seen", async ({ expect }) => {
    await create("seen", { mode: "terminal", millis: 2500 });
    await untilRuns("seen", 1);
    // Its mark falls due long after the owner has looked.
    const queue = ticketQueue(bus, scope, { replica: "test", markMillis: 60_000 });
    const { uid, resourceVersion } = (await kit.client.get(Probe, at("seen"))).metadata;
    const { group, kind } = Probe;
    const cause = { type: "object", group, kind, ...at("seen"), uid, resourceVersion } as const;
    expect(await queue.request(at("seen"), newRequest(cause))).toBe("owned");
    await kit.until(Probe, at("seen"), isStalled);
    await expect.poll(() => queue.marks(at("seen")), patience).toEqual([]);
    await create("after-seen", { mode: "ok" });
    await kit.until(Probe, at("after-seen"), isReady);
    expect(runs("seen")).toHaveLength(1);
  });

  test.for([
    ["", "overtaken"],
    [", though it has come across it in a list", "overtaken-and-listed"],
  ] as const)(
    "a change that comes while a reconcile gives up is not lost with it%s",
    async ([, mode], { expect }) => {
      await create(mode, { mode });
      await kit.until(Probe, at(mode), (probe) => isReady(probe) && !isStalled(probe));
      await expect.poll(() => runs(mode).map((run) => run.mode), patience).toEqual([mode, "ok"]);
      await expect.poll(() => deadLetters(bus, scope).get(at(mode)), patience).toBeUndefined();
    },
  );

  test("a change that a reconcile writes over, without having gone by it, is not lost", async ({
    expect,
  }) => {
    const mode = "overtaken-and-written";
    await create(mode, { mode });
    await kit.until(Probe, at(mode), isReady);
    await expect.poll(() => runs(mode).map((run) => run.mode), patience).toEqual([mode, "ok"]);
  });

  test("one that hangs is broken off at its time limit, and the others are not kept waiting", async ({
    expect,
  }) => {
    await create("hangs", { mode: "hang" });
    await untilRuns("hangs", 1);
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        await create(`beside-${i}`, { mode: "ok" });
        await kit.until(Probe, at(`beside-${i}`), isReady);
      }),
    );
    expect(warnings("hangs", "reconcile failed"), "the hanging one was still at it").toHaveLength(0);
    const found = await kit.until(Probe, at("hangs"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain("limit of 10000 ms");
    await change("hangs", { mode: "ok" });
    await kit.until(Probe, at("hangs"), isReady);
  });

  test("one that returns nonsense fails with what was expected", async ({ expect }) => {
    await create("nonsense", { mode: "nonsense" });
    const found = await kit.until(Probe, at("nonsense"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain('found {"requeueAfter":"soon"}');
    await change("nonsense", { mode: "ok" });
    await kit.until(Probe, at("nonsense"), isReady);
  });

  test("one whose writes are never the same twice does not wake itself on and on", async ({ expect }) => {
    await create("stamps", { mode: "stamp" });
    await kit.until(Probe, at("stamps"), ({ status }) => status?.stamp !== undefined);
    // Time for dozens of reconciles, if each woke the next.
    for (let i = 0; i < 10; i++) {
      await create(`after-stamps-${i}`, { mode: "ok" });
      await kit.until(Probe, at(`after-stamps-${i}`), isReady);
    }
    // An event that overtakes the answer of its own write may wake it once more, which is harmless.
    expect(runs("stamps").length).toBeLessThanOrEqual(3);
  });

  test("a fight with another writer is slowed down and shows in a condition", async ({ expect }) => {
    await create("fights", { mode: "fight", value: 1 });
    let isOver = false;
    // Without a pause: a slow machine has to get through 30 reconciles in ten seconds, too.
    const rival = (async () => {
      while (!isOver) await change("fights", { value: 0 });
    })();
    const found = await kit.until(Probe, at("fights"), isStalled).finally(() => {
      isOver = true;
    });
    await rival;
    expect(condition(found, "Stalled")?.reason).toBe("HotLoop");
    await change("fights", { mode: "ok" });
    await kit.until(Probe, at("fights"), (probe) => isReady(probe) && !isStalled(probe));
  });
});

/** Starts each worker that dies, until it is told to stop; then all of them are begun anew. */
function revive(): { stop(): Promise<void> } {
  let going = true;
  const reviving = Promise.all(
    workers.map(async (worker) => {
      while (going) {
        await worker.exited();
        // Told to stop while it starts: the end of the test.
        if (going) await worker.start().catch(() => undefined);
      }
    }),
  );
  return {
    async stop() {
      going = false;
      await Promise.all(workers.map((worker) => worker.stop()));
      await reviving;
      await Promise.all(workers.map((worker) => worker.start()));
    },
  };
}

// The watchdog ends the worker with SIGKILL, as a crash would.
test("one that blocks the event loop for ever is given up after three deaths; its neighbours are reconciled", async () => {
  const reviving = revive();
  try {
    await create("blocks", { mode: "block" });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => create(`block-neighbour-${i}`, { mode: "slow", millis: 50 })),
    );
    const found = await kit.until(Probe, at("blocks"), isStalled, 110_000);
    expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "WorkerCrashed" });
    for (let i = 0; i < 10; i++) await kit.until(Probe, at(`block-neighbour-${i}`), isReady);
    const letters = await deadLetters(bus, scope).list();
    expect(
      letters.filter(({ letter }) => letter.reason === "WorkerCrashed").map(({ key }) => key.name),
    ).toContain("blocks");
    expect(await deadLetters(bus, scope).get(at("block-neighbour-0")), "an innocent one").toBeUndefined();
    // The first start is no suspect yet; the three that follow are counted.
    expect(runs("blocks")).toHaveLength(4);
    // Nobody dies of it again as long as it is as it is.
    const queue = ticketQueue(bus, scope, { replica: "test" });
    await queue.request(at("blocks"), newRequest({ type: "timer" }));
    await expect
      .poll(() => warnings("blocks", "skipped: this generation crashed its workers").length, patience)
      .toBeGreaterThanOrEqual(1);
    expect(runs("blocks")).toHaveLength(4);
  } finally {
    await change("blocks", { mode: "ok" });
    await reviving.stop();
  }
  await kit.until(Probe, at("blocks"), isReady);
});

test("one whose workers die, but that gets further each time, is not given up", async () => {
  const reviving = revive();
  const steps = 5;
  try {
    // Long enough for its write to be noted before the process dies.
    await create("climbs", { mode: "climb", value: steps, millis: 500 });
    await kit.until(Probe, at("climbs"), (probe) => isReady(probe) || isStalled(probe), 110_000);
  } finally {
    await reviving.stop();
  }
  const found = await kit.client.get(Probe, at("climbs"));
  expect([isReady(found), isStalled(found)]).toEqual([true, false]);
  // The first death makes it a suspect; four more are too many for one that gets nowhere.
  expect(runs("climbs")).toHaveLength(steps + 1);
});

test("what a dead worker had in hand does not wait for one of them that hangs", async () => {
  const [first, second] = workers as [Replica, Replica];
  await second.stop();
  const others = ["in-hand-1", "in-hand-2", "in-hand-3"];
  await create("hangs-first", { mode: "hang" });
  await untilRuns("hangs-first", 1);
  for (const name of others) await create(name, { mode: "slow", millis: 1000 });
  for (const name of others) await untilRuns(name, 1);
  await first.kill();
  const failures = () => warnings("hangs-first", "reconcile failed").length;
  const before = failures();
  await first.start();
  for (const name of ["hangs-first", ...others]) await untilRuns(name, 2);
  expect(failures(), "the hanging one was still at it").toBe(before);
  await Promise.all(others.map((name) => kit.until(Probe, at(name), isReady)));
  await change("hangs-first", { mode: "ok" });
  await kit.until(Probe, at("hangs-first"), isReady);
  await second.start();
});

test("a replay reads what was changed a moment before, not what the bus has of it", async () => {
  await create("replayed", { mode: "terminal" });
  await kit.until(Probe, at("replayed"), isStalled);
  const letters = deadLetters(bus, scope);
  await bridge.stop();
  try {
    await change("replayed", { mode: "ok" });
    await letters.replay(ticketQueue(bus, scope, { replica: "test" }), at("replayed"));
    await kit.until(Probe, at("replayed"), (probe) => isReady(probe) && !isStalled(probe));
  } finally {
    await bridge.start();
  }
});

test("what workers died over is left alone until it is replayed, also when the replay came beside something else", async () => {
  await create("left-alone", { mode: "ok" });
  const { metadata } = await kit.until(Probe, at("left-alone"), isReady);
  const crashed = {
    type: "Stalled",
    status: "True",
    reason: "WorkerCrashed",
    message: "",
    observedGeneration: metadata.generation,
    lastTransitionTime: new Date().toISOString(),
  };
  const leftAlone = () => warnings("left-alone", "skipped: this generation crashed its workers").length;
  const status = { conditions: [crashed] };
  await kit.client.mergePatch(
    Probe,
    at("left-alone"),
    { status },
    { fieldManager: "test", subresource: "status" },
  );
  await expect.poll(leftAlone, patience).toBeGreaterThan(0);
  const [before, times] = [runs("left-alone").length, leftAlone()];
  const queue = ticketQueue(bus, scope, { replica: "test" });
  // Whoever has just said so may still have it in hand.
  const timer = newRequest({ type: "timer" });
  await expect.poll(() => queue.requestUnlessOwned(at("left-alone"), timer), patience).toBe("accepted");
  await expect.poll(leftAlone, patience).toBeGreaterThan(times);
  expect(runs("left-alone")).toHaveLength(before);
  const beside = { ...newRequest({ type: "timer" }), also: [{ type: "replay" as const }] };
  await expect.poll(() => queue.requestUnlessOwned(at("left-alone"), beside), patience).toBe("accepted");
  await kit.until(Probe, at("left-alone"), (probe) => isReady(probe) && !isStalled(probe));
});

test("a paused worker that wakes up after its deadline writes nothing", async () => {
  const [first, second] = workers as [Replica, Replica];
  await second.stop();
  await create("paused", { mode: "slow", millis: 2500 });
  await first.log.until((line) => line.includes('"default/paused"') && line.includes("probing"));
  process.kill(first.pid ?? 0, "SIGSTOP");
  try {
    await second.start();
    const found = await kit.until(Probe, at("paused"), isReady);
    expect(found.status?.by).toBe("worker-2");
  } finally {
    process.kill(first.pid ?? 0, "SIGCONT");
  }
  await first.log.until((line) => line.includes("ownership lost") && line.includes("paused"));
  const wrote = first.log.records().filter(({ msg, key }) => msg === "wrote" && key === "default/paused");
  expect(wrote).toEqual([]);
  expect((await kit.client.get(Probe, at("paused"))).status?.by).toBe("worker-2");
});

test("a reconcile whose consumer is deleted is given up at once, and begins again with the next one", async () => {
  await create("bereft", { mode: "slow", millis: 5000 });
  await untilRuns("bereft", 1);
  await bus.jsm.consumers.delete(workStream("probe"), consumers.worker(scope));
  const lost = () =>
    workers
      .flatMap(({ log }) => log.records())
      .filter(({ msg, err }) => msg === "ownership lost" && isAboutDeletion(err))
      .filter(({ subject }) => parseKeySubject(String(subject)).key.name === "bereft");
  await expect.poll(() => lost().length, patience).toBe(1);
  await untilRuns("bereft", 2);
  await kit.until(Probe, at("bereft"), isReady);
  const [first, second] = runs("bereft").map(({ time }) => Date.parse(String(time)));
  const given = Date.parse(String(lost()[0]?.time));
  expect(given - (first ?? 0), "it did not wait for the end").toBeLessThan(5000);
  expect(given, "the second run began later").toBeLessThanOrEqual(second ?? 0);
});
const isAboutDeletion = (error: unknown) =>
  String((error as Error | undefined)?.message).includes("was deleted");

test("an orderly stop hands back a reconcile that takes longer than the grace period, and another worker runs it", async () => {
  const [first, second] = workers as [Replica, Replica];
  await second.stop();
  const metadata = at("handed-over");
  const spec = { repository: "acme/web", branch: "main", millis: 600_000 };
  const apiVersion = "test.denrei.dev/v1";
  await kit.client.create(Branch, { apiVersion, kind: "Branch", metadata, spec }, { fieldManager: "test" });
  const said = ({ log }: Replica) =>
    log
      .records()
      .filter(({ key }) => key === "default/handed-over")
      .map(({ msg, attempt }) => `${msg}, attempt ${attempt}`);
  await expect.poll(() => said(first), patience).toEqual(["looking at the branch, attempt 0"]);
  const stopped = first.stop("SIGTERM");
  await second.start();
  await stopped;
  expect(said(first).at(-1)).toBe("handed back: the worker is shutting down, attempt 0");
  expect(first.log.all.at(-1)).toContain('"msg":"stopped"');
  await expect.poll(() => said(second), patience).toEqual(["looking at the branch, attempt 0"]);
  await kit.client.delete(Branch, metadata, {});
  await first.start();
});
