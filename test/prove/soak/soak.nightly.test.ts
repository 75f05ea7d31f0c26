/** The soak of `npm run soak`, in two minutes: a leak has to be a coarser one to be found. */
import { expect, onTestFinished, test } from "vitest";
import { soak } from "./soak.ts";

test("nothing that runs under a steady load grows", { timeout: 300_000 }, async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort(new Error("the test is over")));
  const { checks } = await soak({ minutes: 2, perSecond: 10, say: () => undefined, signal: ending.signal });
  const broken = checks.filter(({ holds }) => !holds);
  expect(
    broken.map(({ what, limit, found, history = [] }) => [what, limit, found, ...history].join("\n")),
  ).toEqual([]);
});
