/** Misbehaving functions: the object's status reports it, other objects proceed, nothing loops hot, and nothing is lost. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { Probe } from "../fixtures/functions/probe.ts";
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

const path = fileURLToPath(new URL("../fixtures/functions/probe.ts", import.meta.url));
let probes: Probes;
beforeAll(async () => {
  probes = await startProbes([path], [Probe], 15);
});
afterAll(() => probes?.stop());

describe.concurrent("a function among healthy ones", () => {
  test("that throws is retried with growing pauses, reports it in a condition, and recovers", async ({
    expect,
  }) => {
    await probes.create("throws", { mode: "throw" });
    const found = await probes.environment.until(Probe, at("throws"), isStalled);
    expect(condition(found, "Stalled")).toMatchObject({
      reason: "Retrying",
      message: "the spec asks for an exception",
    });
    const failures = probes.logged("throws", "reconcile failed");
    expect(failures.map(({ failed }) => failed)).toEqual(failures.map((_, i) => i + 1));
    await probes.change("throws", { mode: "ok" });
    await probes.environment.until(Probe, at("throws"), (probe) => isReady(probe) && !isStalled(probe));
  });

  test("that rejects its object sets a condition, makes a dead letter, is not retried, and can be replayed", async ({
    expect,
  }) => {
    await probes.create("terminal", { mode: "terminal" });
    const found = await probes.environment.until(Probe, at("terminal"), isStalled);
    expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "TerminalRequested" });
    const letters = deadLetters(probes.bus, probeScope);
    expect(await letters.get(at("terminal"))).toMatchObject({ reason: "TerminalRequested", attempts: 1 });
    expect(probes.runs("terminal")).toHaveLength(1);
    await letters.replay(ticketQueue(probes.bus, probeScope, { replica: "test" }), at("terminal"));
    await probes.untilRuns("terminal", 2);
    await probes.change("terminal", { mode: "ok" });
    await probes.environment.until(Probe, at("terminal"), (probe) => isReady(probe) && !isStalled(probe));
    await expect.poll(() => letters.get(at("terminal")), polling).toBeUndefined();
  });

  test("that rejected its object is not run again for a change it has seen", async ({ expect }) => {
    await probes.create("seen", { mode: "terminal", millis: 7000 });
    await probes.untilRuns("seen", 1);
    // Its mark becomes due long after the owner has checked.
    const queue = ticketQueue(probes.bus, probeScope, { replica: "test", markMillis: 60_000 });
    const { uid, resourceVersion } = (await probes.environment.client.get(Probe, at("seen"))).metadata;
    const { group, kind } = Probe;
    const cause = { type: "object", group, kind, ...at("seen"), uid, resourceVersion } as const;
    expect(await queue.request(at("seen"), newRequest(cause))).toBe("owned");
    await probes.environment.until(Probe, at("seen"), isStalled);
    await expect.poll(() => queue.marks(at("seen")), polling).toEqual([]);
    await probes.create("after-seen", { mode: "ok" });
    await probes.environment.until(Probe, at("after-seen"), isReady);
    expect(probes.runs("seen")).toHaveLength(1);
  });

  test.for([
    ["", "overtaken"],
    [", even if a list of the reconcile contained it", "overtaken-and-listed"],
  ] as const)(
    "a change made while a reconcile rejects its object is reconciled%s",
    async ([, mode], { expect }) => {
      await probes.create(mode, { mode });
      await probes.environment.until(Probe, at(mode), (probe) => isReady(probe) && !isStalled(probe));
      await expect.poll(() => probes.runs(mode).map((run) => run.mode), polling).toEqual([mode, "ok"]);
      await expect.poll(() => deadLetters(probes.bus, probeScope).get(at(mode)), polling).toBeUndefined();
    },
  );

  test("a change that a reconcile overwrites without having seen it is reconciled", async ({ expect }) => {
    const mode = "overtaken-and-written";
    await probes.create(mode, { mode });
    await probes.environment.until(Probe, at(mode), isReady);
    await expect.poll(() => probes.runs(mode).map((run) => run.mode), polling).toEqual([mode, "ok"]);
  });

  test("that hangs is aborted at its time limit without delaying other objects", async ({ expect }) => {
    await probes.create("hangs", { mode: "hang" });
    await probes.untilRuns("hangs", 1);
    const failures = () => probes.logged("hangs", "reconcile failed").length;
    let before: number;
    let round = 0;
    // Repeat until all were served while one object hangs: a slow machine may need longer than one time limit.
    do {
      before = failures();
      await probes.untilRuns("hangs", before + 1);
      round++;
      await Promise.all(
        Array.from({ length: 5 }, async (_, i) => {
          const name = `beside-${round}-${i}`;
          await probes.create(name, { mode: "ok" });
          await probes.environment.until(Probe, at(name), isReady);
        }),
      );
    } while (failures() > before);
    const found = await probes.environment.until(Probe, at("hangs"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain("limit of 10000 ms");
    await probes.change("hangs", { mode: "ok" });
    await probes.environment.until(Probe, at("hangs"), isReady);
  });

  test("that returns an invalid result fails with what was expected", async ({ expect }) => {
    await probes.create("nonsense", { mode: "nonsense" });
    const found = await probes.environment.until(Probe, at("nonsense"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain('found {"requeueAfter":"soon"}');
    await probes.change("nonsense", { mode: "ok" });
    await probes.environment.until(Probe, at("nonsense"), isReady);
  });

  test("whose writes always differ does not enqueue itself endlessly", async ({ expect }) => {
    await probes.create("stamps", { mode: "stamp" });
    await probes.environment.until(Probe, at("stamps"), ({ status }) => status?.stamp !== undefined);
    // Enough time for dozens of reconciles if each one enqueued the next.
    for (let i = 0; i < 10; i++) {
      await probes.create(`after-stamps-${i}`, { mode: "ok" });
      await probes.environment.until(Probe, at(`after-stamps-${i}`), isReady);
    }
    // An event that overtakes the response to its own write may cause one more reconcile, which is harmless.
    expect(probes.runs("stamps").length).toBeLessThanOrEqual(3);
  });

  test("a fight with another writer is slowed down and reported in a condition", async ({ expect }) => {
    await probes.create("fights", { mode: "fight", value: 1 });
    let isOver = false;
    // No pause, because a slow machine also has to finish 30 reconciles in ten seconds.
    const rival = (async () => {
      while (!isOver) await probes.change("fights", { value: 0 });
    })();
    const found = await probes.environment.until(Probe, at("fights"), isStalled).finally(() => {
      isOver = true;
    });
    await rival;
    expect(condition(found, "Stalled")?.reason).toBe("HotLoop");
    await probes.change("fights", { mode: "ok" });
    await probes.environment.until(Probe, at("fights"), (probe) => isReady(probe) && !isStalled(probe));
  });
});

test("a replay reads a fresh change from the API server, not the older state on the bus", async () => {
  await probes.create("replayed", { mode: "terminal" });
  await probes.environment.until(Probe, at("replayed"), isStalled);
  const letters = deadLetters(probes.bus, probeScope);
  await probes.bridge.stop();
  try {
    await probes.change("replayed", { mode: "ok" });
    await letters.replay(ticketQueue(probes.bus, probeScope, { replica: "test" }), at("replayed"));
    await probes.environment.until(Probe, at("replayed"), (probe) => isReady(probe) && !isStalled(probe));
  } finally {
    await probes.bridge.start();
  }
});
