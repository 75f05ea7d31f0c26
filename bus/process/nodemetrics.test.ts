import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { beatMillis } from "../values/eventloop.ts";
import { registerNodeMetrics } from "./nodemetrics.ts";

test("the lag shows how long the event loop was blocked since the last scrape, and stays until it is measured again", async () => {
  const registry = new Registry();
  registerNodeMetrics(registry);
  const lag = async (name: string) =>
    Number(
      new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.*)$`, "m").exec(await registry.metrics())?.[1],
    );
  const until = performance.now() + 2 * beatMillis;
  while (performance.now() < until);
  await expect.poll(() => lag("max")).toBeGreaterThan(0.2);
  expect(await lag("max")).toBeGreaterThan(0.2);
  await expect.poll(() => lag("max")).toBeLessThan(0.2);
  expect(await lag("min")).toBeGreaterThan(0);
});
