/** A worker on a machine with a wrong clock uses the clock of the bus. */
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startBusClock } from "../../bus/nats/busclock.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { consumers, timersStream, work, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

const trueNow = Date.now.bind(Date);
const skewMillis = 600_000;
const delayMillis = 300_000;
/** Longest pause between two lines on a very busy machine. */
const toleranceMillis = 60_000;

let local: LocalBus;
let bus: Bus;

beforeAll(async () => {
  local = await startLocalBus();
  ({ bus } = local);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => local?.stop());

/** Shifts this machine's clock. */
const skewBy = (millis: number) => vi.spyOn(Date, "now").mockImplementation(() => trueNow() + millis);

test.each([
  ["behind", -skewMillis],
  ["ahead", skewMillis],
])("a worker whose clock is %s sets its timers to the right time", async (name, skew) => {
  skewBy(skew);
  const scope = { fn: name, cluster: "test" };
  const seen: number[] = [];
  const registry = new Registry();
  // Longer than any pause of this machine: no ticket is delivered a second time.
  const busOptions = { replicas: 1, ackWaitMillis: 60_000 };
  await ensureTopology(bus, busOptions);
  const worker = await startTestWorker({
    bus,
    busOptions,
    registry,
    functions: [
      defineFunction({
        name,
        for: Note,
        async reconcile({ metadata }, ctx) {
          if (metadata.name === name) seen.push(ctx.now());
          return { requeueAfter: delayMillis };
        },
      }),
    ],
  });
  try {
    const publisher = await publisherOf(bus, Note);
    await publisher.publish("added", stored(Note, name, 1, { text: "" }), "watch");
    const timer = work.timer(scope, { namespace: "default", name });
    const find = () => bus.jsm.streams.getMessage(timersStream(name), { last_by_subj: timer });
    await expect.poll(find).not.toBeNull();
    const due = Date.parse((await find())?.header.get("Nats-Schedule").slice("@at ".length) ?? "");
    expect(Math.abs(due - trueNow() - delayMillis)).toBeLessThan(toleranceMillis);
    expect(seen).toHaveLength(1);
    expect(Math.abs((seen[0] ?? 0) - trueNow())).toBeLessThan(toleranceMillis);
    const offset = await registry.getSingleMetric("denrei_clock_offset_seconds")?.get();
    expect(Math.abs((offset?.values[0]?.value ?? 0) + skew / 1000)).toBeLessThan(toleranceMillis / 1000);
  } finally {
    await worker.stop();
  }
});

test("the clock of the bus stays right when this machine's clock is changed", async () => {
  const signal = new AbortController().signal;
  const scope = { fn: "behind", cluster: "test" };
  const where = { stream: workStream(scope.fn), consumer: consumers.worker(scope) };
  const clock = await startBusClock({ bus, ...where, signal, onError: () => undefined });
  skewBy(skewMillis);
  expect(Math.abs(clock.now() - trueNow())).toBeLessThan(toleranceMillis);
});

test("the clock of the bus is right again soon after this machine was suspended", async () => {
  const scope = { fn: "behind", cluster: "test" };
  const where = { stream: workStream(scope.fn), consumer: consumers.worker(scope) };
  const signal = new AbortController().signal;
  const clock = await startBusClock({ bus, ...where, signal, onError: () => undefined });
  const monotonic = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => monotonic() - skewMillis);
  const wrongBy = () => Math.abs(clock.now() - trueNow());
  expect(wrongBy()).toBeGreaterThan(toleranceMillis);
  await expect.poll(wrongBy, { timeout: 60_000 }).toBeLessThan(toleranceMillis);
});
