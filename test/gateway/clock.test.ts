/** A gateway on a machine with a wrong clock uses the clock of the bus. */
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { startWebhookBus, withGateway } from "./gateways.ts";
import { ask } from "./requests.ts";

const trueNow = Date.now.bind(Date);
const trueElapsed = performance.now.bind(performance);
const skewMillis = 600_000;
/** A very busy machine may pause this long between two statements. */
const toleranceMillis = 60_000;

let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => local?.stop());

test.each([
  ["behind", -skewMillis],
  ["ahead", skewMillis],
])("distinguishes a redelivery from a repetition when the machine's clock is %s", async (_name, skew) => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + skew);
  const registry = new Registry();
  await withGateway(
    local,
    async ({ hookUrl }) => {
      const hook = hookOf("push", example("push"));
      const outcome = async () => (await ask(hookUrl(), hook)).text;
      expect(await outcome()).toBe("stored");
      expect(await outcome()).toBe("duplicate");
      // Both clocks of the machine: if only one moved, the time of the bus would be read again.
      vi.mocked(Date.now).mockImplementation(() => trueNow() + skew + 20_000);
      vi.spyOn(performance, "now").mockImplementation(() => trueElapsed() + 20_000);
      expect(await outcome()).toBe("redelivered");
      vi.mocked(performance.now).mockRestore();
      vi.mocked(Date.now).mockImplementation(() => trueNow() + skew);
      const offset = await registry.getSingleMetric("denrei_clock_offset_seconds")?.get();
      expect(Math.abs((offset?.values[0]?.value ?? 0) + skew / 1000)).toBeLessThan(toleranceMillis / 1000);
    },
    { registry },
  );
});
