/** Scenarios of `npm run prove` as tests: the same faults at the smallest size. */
import type { TestContext } from "vitest";
import { describe, prove } from "./prove.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** Each scenario has a least size; nothing is gained by a smaller one. */
const shortest = 1e-9;
const seed = Number(process.env.DENREI_SEED ?? 1);

/** The scenarios whose limits are counts, or times. */
export const scenariosWith = (limits: Scenario["limits"]): readonly Scenario[] =>
  scenarios.filter((scenario) => scenario.limits === limits);

/** Runs a scenario and expects all of its checks to hold. */
export async function expectToHold(
  scenario: Scenario,
  { expect, onTestFinished }: TestContext,
): Promise<void> {
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
