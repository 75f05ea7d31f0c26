/** `npm run soak` in two minutes, which finds only large leaks. */
import { expect, onTestFinished, test } from "vitest";
import { soak } from "./soak.ts";

test("no process grows under a steady load", { timeout: 300_000 }, async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort(new Error("the test is over")));
  const { checks } = await soak({ minutes: 2, perSecond: 10, say: () => undefined, signal: ending.signal });
  const broken = checks.filter(({ holds }) => !holds);
  expect(
    broken.map(({ what, limit, found, history = [] }) => [what, limit, found, ...history].join("\n")),
  ).toEqual([]);
});
