import { expect, onTestFinished, test } from "vitest";
import { prepareDashboard } from "./dashboard.ts";

/** The port of a dashboard that is about to start. */
async function preparedPort(): Promise<number> {
  const dashboard = await prepareDashboard({ say: () => undefined, signal: new AbortController().signal });
  onTestFinished(dashboard.releasePort);
  return Number(new URL(dashboard.url).port);
}

test("each dashboard on a machine has its own port, from 8090 on", async () => {
  const first = await preparedPort();
  expect(first).toBeGreaterThanOrEqual(8090);
  expect(await preparedPort()).toBeGreaterThan(first);
});
