/** Functions that misbehave: the object says so, the others go on, nothing loops hot, nothing is lost. */
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
  patience,
  probeScope,
  startProbes,
} from "../harness/probes.ts";

const path = fileURLToPath(new URL("../fixtures/functions/probe.ts", import.meta.url));
let probes: Probes;
beforeAll(async () => {
  probes = await startProbes([path], [Probe], 15);
});
afterAll(() => probes?.stop());

describe.concurrent("a function beside others", () => {
  test("one that throws is retried with growing pauses, says so, and recovers", async ({ expect }) => {
    await probes.create("throws", { mode: "throw" });
    const found = await probes.kit.until(Probe, at("throws"), isStalled);
    expect(condition(found, "Stalled")).toMatchObject({
      reason: "Retrying",
      message: "the probe was told to throw",
    });
    const failures = probes.said("throws", "reconcile failed");
    expect(failures.map(({ failed }) => failed)).toEqual(failures.map((_, i) => i + 1));
    await probes.change("throws", { mode: "ok" });
    await probes.kit.until(Probe, at("throws"), (probe) => isReady(probe) && !isStalled(probe));
  });

  test("one that gives up gets a condition and a dead letter, no retry, and can be replayed", async ({
    expect,
  }) => {
    await probes.create("terminal", { mode: "terminal" });
    const found = await probes.kit.until(Probe, at("terminal"), isStalled);
    expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "ToldSo" });
    const letters = deadLetters(probes.bus, probeScope);
    expect(await letters.get(at("terminal"))).toMatchObject({ reason: "ToldSo", attempts: 1 });
    expect(probes.runs("terminal")).toHaveLength(1);
    await letters.replay(ticketQueue(probes.bus, probeScope, { replica: "test" }), at("terminal"));
    await probes.untilRuns("terminal", 2);
    await probes.change("terminal", { mode: "ok" });
    await probes.kit.until(Probe, at("terminal"), (probe) => isReady(probe) && !isStalled(probe));
    await expect.poll(() => letters.get(at("terminal")), patience).toBeUndefined();
  });

  test("one that gives up is not run again for a change that it has seen", async ({ expect }) => {
    await probes.create("seen", { mode: "terminal", millis: 7000 });
    await probes.untilRuns("seen", 1);
    // Its mark falls due long after the owner has looked.
    const queue = ticketQueue(probes.bus, probeScope, { replica: "test", markMillis: 60_000 });
    const { uid, resourceVersion } = (await probes.kit.client.get(Probe, at("seen"))).metadata;
    const { group, kind } = Probe;
    const cause = { type: "object", group, kind, ...at("seen"), uid, resourceVersion } as const;
    expect(await queue.request(at("seen"), newRequest(cause))).toBe("owned");
    await probes.kit.until(Probe, at("seen"), isStalled);
    await expect.poll(() => queue.marks(at("seen")), patience).toEqual([]);
    await probes.create("after-seen", { mode: "ok" });
    await probes.kit.until(Probe, at("after-seen"), isReady);
    expect(probes.runs("seen")).toHaveLength(1);
  });

  test.for([
    ["", "overtaken"],
    [", though it has come across it in a list", "overtaken-and-listed"],
  ] as const)(
    "a change that comes while a reconcile gives up is not lost with it%s",
    async ([, mode], { expect }) => {
      await probes.create(mode, { mode });
      await probes.kit.until(Probe, at(mode), (probe) => isReady(probe) && !isStalled(probe));
      await expect.poll(() => probes.runs(mode).map((run) => run.mode), patience).toEqual([mode, "ok"]);
      await expect.poll(() => deadLetters(probes.bus, probeScope).get(at(mode)), patience).toBeUndefined();
    },
  );

  test("a change that a reconcile writes over, without having gone by it, is not lost", async ({
    expect,
  }) => {
    const mode = "overtaken-and-written";
    await probes.create(mode, { mode });
    await probes.kit.until(Probe, at(mode), isReady);
    await expect.poll(() => probes.runs(mode).map((run) => run.mode), patience).toEqual([mode, "ok"]);
  });

  test("one that hangs is broken off at its time limit, and the others are not kept waiting", async ({
    expect,
  }) => {
    await probes.create("hangs", { mode: "hang" });
    await probes.untilRuns("hangs", 1);
    const failures = () => probes.said("hangs", "reconcile failed").length;
    let before: number;
    let round = 0;
    // Until they come while the hanging one is at it all the time: a slow machine may need longer than its time limit.
    do {
      before = failures();
      await probes.untilRuns("hangs", before + 1);
      round++;
      await Promise.all(
        Array.from({ length: 5 }, async (_, i) => {
          const name = `beside-${round}-${i}`;
          await probes.create(name, { mode: "ok" });
          await probes.kit.until(Probe, at(name), isReady);
        }),
      );
    } while (failures() > before);
    const found = await probes.kit.until(Probe, at("hangs"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain("limit of 10000 ms");
    await probes.change("hangs", { mode: "ok" });
    await probes.kit.until(Probe, at("hangs"), isReady);
  });

  test("one that returns nonsense fails with what was expected", async ({ expect }) => {
    await probes.create("nonsense", { mode: "nonsense" });
    const found = await probes.kit.until(Probe, at("nonsense"), isStalled);
    expect(condition(found, "Stalled")?.message).toContain('found {"requeueAfter":"soon"}');
    await probes.change("nonsense", { mode: "ok" });
    await probes.kit.until(Probe, at("nonsense"), isReady);
  });

  test("one whose writes are never the same twice does not wake itself on and on", async ({ expect }) => {
    await probes.create("stamps", { mode: "stamp" });
    await probes.kit.until(Probe, at("stamps"), ({ status }) => status?.stamp !== undefined);
    // Time for dozens of reconciles, if each woke the next.
    for (let i = 0; i < 10; i++) {
      await probes.create(`after-stamps-${i}`, { mode: "ok" });
      await probes.kit.until(Probe, at(`after-stamps-${i}`), isReady);
    }
    // An event that overtakes the answer of its own write may wake it once more, which is harmless.
    expect(probes.runs("stamps").length).toBeLessThanOrEqual(3);
  });

  test("a fight with another writer is slowed down and shows in a condition", async ({ expect }) => {
    await probes.create("fights", { mode: "fight", value: 1 });
    let isOver = false;
    // Without a pause: a slow machine has to get through 30 reconciles in ten seconds, too.
    const rival = (async () => {
      while (!isOver) await probes.change("fights", { value: 0 });
    })();
    const found = await probes.kit.until(Probe, at("fights"), isStalled).finally(() => {
      isOver = true;
    });
    await rival;
    expect(condition(found, "Stalled")?.reason).toBe("HotLoop");
    await probes.change("fights", { mode: "ok" });
    await probes.kit.until(Probe, at("fights"), (probe) => isReady(probe) && !isStalled(probe));
  });
});

test("a replay reads what was changed a moment before, not what the bus has of it", async () => {
  await probes.create("replayed", { mode: "terminal" });
  await probes.kit.until(Probe, at("replayed"), isStalled);
  const letters = deadLetters(probes.bus, probeScope);
  await probes.bridge.stop();
  try {
    await probes.change("replayed", { mode: "ok" });
    await letters.replay(ticketQueue(probes.bus, probeScope, { replica: "test" }), at("replayed"));
    await probes.kit.until(Probe, at("replayed"), (probe) => isReady(probe) && !isStalled(probe));
  } finally {
    await probes.bridge.start();
  }
});
