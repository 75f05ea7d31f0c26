/** A bridge on a machine with a wrong clock reports the ages of requests by the clock of the bus. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startBridge } from "../../bus/bridge/bridge.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { clientOfNobody } from "../harness/clients.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const trueNow = Date.now.bind(Date);
const trueElapsed = performance.now.bind(performance);
const skewSeconds = 600;
const elapsedSeconds = 300;
/** Longest pause between two lines on a very busy machine. */
const toleranceSeconds = 60;

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => local?.stop());

test.each([
  ["behind", -skewSeconds],
  ["ahead", skewSeconds],
])("reports the age of the oldest request when the machine's clock is %s", async (fn, skew) => {
  let elapsed = 0;
  // Both clocks of the machine advance together. Otherwise the bridge would detect a clock change and ask the server.
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + (skew + elapsed) * 1000);
  vi.spyOn(performance, "now").mockImplementation(() => trueElapsed() + elapsed * 1000);
  const scope = { fn, cluster: "test" };
  const registry = new Registry();
  const bus = await connectBus({ url: local.natsUrl, name: "test-bridge" });
  const bridge = await startBridge({
    ...{ bus, registry, cluster: scope.cluster, replica: "bridge-1", kinds: [] },
    busOptions: { replicas: 1, ackWaitMillis: 10_000 },
    client: await clientOfNobody(),
    subscriptions: [{ scope, kinds: [] }],
    log: pino({ level: "silent" }),
  });
  const sample = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value;
  try {
    const queue = ticketQueue(local.bus, scope, { replica: "worker-1" });
    await queue.request({ namespace: "default", name: "one" }, newRequest({ type: "timer" }));
    elapsed = elapsedSeconds;
    const age = (await sample("denrei_oldest_request_seconds")) ?? 0;
    expect(Math.abs(age - elapsedSeconds)).toBeLessThan(toleranceSeconds);
    elapsed = 0;
    const offset = (await sample("denrei_clock_offset_seconds")) ?? 0;
    expect(Math.abs(offset + skew)).toBeLessThan(toleranceSeconds);
  } finally {
    await bridge.stop();
    await bus.nc.close();
  }
});
