/** Objects in flight at a worker that dies, is paused, or is stopped are reconciled by another one, once. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { consumers, parseKeySubject, workStream } from "../../bus/subjects.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import type { Replica } from "../harness/environment.ts";
import {
  at,
  condition,
  isReady,
  isStalled,
  type Probes,
  polling,
  probeScope,
  startProbes,
} from "../harness/probes.ts";

const paths = ["probe", "branches"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
);
let probes: Probes;
beforeAll(async () => {
  probes = await startProbes(paths, [Probe, Branch]);
});
afterAll(() => probes?.stop());

/** Restarts each worker that dies, until `stop`; then starts all of them. */
function revive(): { stop(): Promise<void> } {
  let going = true;
  const reviving = Promise.all(
    probes.workers.map(async (worker) => {
      while (going) {
        await worker.exited();
        // `stop` may end a worker while it starts.
        if (going) await worker.start().catch(() => undefined);
      }
    }),
  );
  return {
    async stop() {
      going = false;
      await Promise.all(probes.workers.map((worker) => worker.stop()));
      await reviving;
      await Promise.all(probes.workers.map((worker) => worker.start()));
    },
  };
}

/** Whether a just paused worker dropped the first ticket: the next worker then knows that it is a redelivery. */
function wasLeftAlone(name: string): boolean {
  const begun = String(probes.runs(name)[0]?.time);
  return probes.workers
    .flatMap(({ log }) => log.records())
    .some(
      ({ msg, subject, time }) =>
        String(msg).startsWith("ticket skipped") &&
        parseKeySubject(String(subject)).key.name === name &&
        String(time) < begun,
    );
}

// The watchdog ends the worker with SIGKILL, like a crash.
test("quarantines an object that blocks the event loop after three crashes, and reconciles the others", async () => {
  const reviving = revive();
  try {
    await probes.create("blocks", { mode: "block" });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        probes.create(`block-neighbour-${i}`, { mode: "slow", millis: 50 }),
      ),
    );
    const found = await probes.environment.until(Probe, at("blocks"), isStalled, 110_000);
    expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "WorkerCrashed" });
    for (let i = 0; i < 10; i++) await probes.environment.until(Probe, at(`block-neighbour-${i}`), isReady);
    const letters = await deadLetters(probes.bus, probeScope).list();
    expect(
      letters.filter(({ letter }) => letter.reason === "WorkerCrashed").map(({ key }) => key.name),
    ).toContain("blocks");
    expect(
      await deadLetters(probes.bus, probeScope).get(at("block-neighbour-0")),
      "an innocent one",
    ).toBeUndefined();
    // The first crash raises no suspicion yet; the following three count.
    const starts = wasLeftAlone("blocks") ? 3 : 4;
    expect(probes.runs("blocks")).toHaveLength(starts);
    // It crashes no more workers until it changes.
    const queue = ticketQueue(probes.bus, probeScope, { replica: "test" });
    await queue.request(at("blocks"), newRequest({ type: "timer" }));
    await expect
      .poll(() => probes.logged("blocks", "skipped: this generation crashed its workers").length, polling)
      .toBeGreaterThanOrEqual(1);
    expect(probes.runs("blocks")).toHaveLength(starts);
  } finally {
    await probes.change("blocks", { mode: "ok" });
    await reviving.stop();
  }
  await probes.environment.until(Probe, at("blocks"), isReady);
});

test("does not quarantine an object that progresses although its workers die", async () => {
  const reviving = revive();
  const steps = 5;
  try {
    // Long enough to record its write before the process dies.
    await probes.create("climbs", { mode: "climb", value: steps, millis: 500 });
    const found = await probes.environment.until(
      Probe,
      at("climbs"),
      (probe) => isReady(probe) || isStalled(probe),
      110_000,
    );
    expect([isReady(found), isStalled(found)]).toEqual([true, false]);
    // The first death raises suspicion; four more would be too many without progress. Count before the restart, which makes the
    // workers forget their writes, so that a late event causes one more run.
    // the workers do not recognize their writes, and a late event is one more run.
    await probes.untilRuns("climbs", steps + 1);
    expect(probes.runs("climbs")).toHaveLength(steps + 1);
  } finally {
    await reviving.stop();
  }
});

test("a hanging object does not delay what a dead worker had in flight", async () => {
  const { first, second } = probes;
  await second.stop();
  const others = ["in-hand-1", "in-hand-2", "in-hand-3"];
  await probes.create("hangs-first", { mode: "hang" });
  await probes.untilRuns("hangs-first", 1);
  for (const name of others) await probes.create(name, { mode: "slow", millis: 1000 });
  for (const name of others) await probes.untilRuns(name, 1);
  await first.kill();
  const failures = () => probes.logged("hangs-first", "reconcile failed").length;
  const before = failures();
  await first.start();
  for (const name of ["hangs-first", ...others]) await probes.untilRuns(name, 2);
  expect(failures(), "the object was still hanging").toBe(before);
  await Promise.all(others.map((name) => probes.environment.until(Probe, at(name), isReady)));
  await probes.change("hangs-first", { mode: "ok" });
  await probes.environment.until(Probe, at("hangs-first"), isReady);
  await second.start();
});

test("a quarantined object is skipped until it is replayed, even if the replay shares a ticket with another cause", async () => {
  await probes.create("left-alone", { mode: "ok" });
  const { metadata } = await probes.environment.until(Probe, at("left-alone"), isReady);
  const crashed = {
    type: "Stalled",
    status: "True",
    reason: "WorkerCrashed",
    message: "",
    observedGeneration: metadata.generation,
    lastTransitionTime: new Date().toISOString(),
  };
  const leftAlone = () => probes.logged("left-alone", "skipped: this generation crashed its workers").length;
  const status = { conditions: [crashed] };
  await probes.environment.client.mergePatch(
    Probe,
    at("left-alone"),
    { status },
    { fieldManager: "test", subresource: "status" },
  );
  await expect.poll(leftAlone, polling).toBeGreaterThan(0);
  const [before, times] = [probes.runs("left-alone").length, leftAlone()];
  const queue = ticketQueue(probes.bus, probeScope, { replica: "test" });
  // The worker that logged it may not have acknowledged the ticket yet.
  const timer = newRequest({ type: "timer" });
  await expect.poll(() => queue.requestUnlessOwned(at("left-alone"), timer), polling).toBe("accepted");
  await expect.poll(leftAlone, polling).toBeGreaterThan(times);
  expect(probes.runs("left-alone")).toHaveLength(before);
  const beside = { ...newRequest({ type: "timer" }), also: [{ type: "replay" as const }] };
  await expect.poll(() => queue.requestUnlessOwned(at("left-alone"), beside), polling).toBe("accepted");
  await probes.environment.until(Probe, at("left-alone"), (probe) => isReady(probe) && !isStalled(probe));
});

test("a paused worker that resumes after its deadline writes nothing", async () => {
  const { first, second } = probes;
  await second.stop();
  await probes.create("paused", { mode: "slow", millis: 7000 });
  await first.log.until((line) => line.includes('"default/paused"') && line.includes("probing"));
  process.kill(first.pid ?? 0, "SIGSTOP");
  try {
    await second.start();
    const found = await probes.environment.until(Probe, at("paused"), isReady);
    expect(found.status?.by).toBe("worker-2");
  } finally {
    process.kill(first.pid ?? 0, "SIGCONT");
  }
  await first.log.until((line) => line.includes("ownership lost") && line.includes("paused"));
  const wrote = first.log.records().filter(({ msg, key }) => msg === "wrote" && key === "default/paused");
  expect(wrote).toEqual([]);
  expect((await probes.environment.client.get(Probe, at("paused"))).status?.by).toBe("worker-2");
});

test("a reconcile whose consumer is deleted is aborted at once, and runs again with the next consumer", async () => {
  const millis = 8000;
  await probes.create("bereft", { mode: "slow", millis });
  await probes.untilRuns("bereft", 1);
  await probes.bus.jsm.consumers.delete(workStream("probe"), consumers.worker(probeScope));
  const lost = () =>
    probes.workers
      .flatMap(({ log }) => log.records())
      .filter(({ msg, err }) => msg === "ownership lost" && isAboutDeletion(err))
      .filter(({ subject }) => parseKeySubject(String(subject)).key.name === "bereft");
  await expect.poll(() => lost().length, polling).toBe(1);
  await probes.untilRuns("bereft", 2);
  await probes.environment.until(Probe, at("bereft"), isReady);
  const [first, second] = probes.runs("bereft").map(({ time }) => Date.parse(String(time)));
  const given = Date.parse(String(lost()[0]?.time));
  expect(given - (first ?? 0), "it did not wait for the end").toBeLessThan(millis);
  expect(given, "the second run began later").toBeLessThanOrEqual(second ?? 0);
});
const isAboutDeletion = (error: unknown) =>
  String((error as Error | undefined)?.message).includes("was deleted");

test("an orderly stop hands a reconcile longer than the grace period back to another worker", async () => {
  const { first, second } = probes;
  await second.stop();
  const metadata = at("handed-over");
  const spec = { repository: "acme/web", branch: "main", millis: 600_000 };
  const apiVersion = "test.denrei.dev/v1";
  await probes.environment.client.create(
    Branch,
    { apiVersion, kind: "Branch", metadata, spec },
    { fieldManager: "test" },
  );
  const messages = ({ log }: Replica) =>
    log
      .records()
      .filter(({ key }) => key === "default/handed-over")
      .map(({ msg, attempt }) => `${msg}, attempt ${attempt}`);
  await expect.poll(() => messages(first), polling).toEqual(["looking at the branch, attempt 0"]);
  const stopped = first.stop("SIGTERM");
  await second.start();
  await stopped;
  expect(messages(first).at(-1)).toBe("handed back: the worker is shutting down, attempt 0");
  expect(first.log.all.at(-1)).toContain('"msg":"stopped"');
  await expect.poll(() => messages(second), polling).toEqual(["looking at the branch, attempt 0"]);
  await probes.environment.client.delete(Branch, metadata, {});
  await first.start();
});
