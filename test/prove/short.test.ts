/**
 * Every scenario of `npm run prove`, in a few minutes: smaller, with the same faults. Limits are the same, too, but for
 * times that depend on what else the machine does: here they tell a fault from its absence, on a slow machine as well.
 */
import { type TestContext, test } from "vitest";
import { describe, prove } from "./prove.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** Nothing is gained by a size below the least that a scenario can do with. */
const shortest = 1e-9;
const seed = Number(process.env.DENREI_SEED ?? 1);
const timeout = 240_000;

async function holds(scenario: Scenario, { expect, onTestFinished }: TestContext): Promise<void> {
  const ending = new AbortController();
  onTestFinished(() => ending.abort(new Error("the test is over")));
  const [verdict] = await prove([scenario], {
    seed,
    minutes: shortest,
    peer: "omit",
    say: () => undefined,
    signal: ending.signal,
  });
  expect(verdict?.holds, verdict && describe(verdict).join("\n")).toBe(true);
}

for (const scenario of scenarios.filter(({ limits }) => limits === "counts"))
  test.concurrent(scenario.name, { timeout }, (context) => holds(scenario, context));

for (const scenario of scenarios.filter(({ limits }) => limits === "times"))
  test(scenario.name, { timeout }, (context) => holds(scenario, context));
