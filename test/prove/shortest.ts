/** Scenarios of `npm run prove` as tests: the same faults at the smallest size. */
import type { TestContext } from "vitest";
import { describe, prove } from "./prove.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** Each scenario has a minimum size; less time makes none smaller. */
const shortest = 1e-9;
const seed = Number(process.env.DENREI_SEED ?? 1);

/** The scenarios that run as tests of each change, or in the nightly run. */
export const scenariosTested = (when: Scenario["tested"]): readonly Scenario[] =>
  scenarios.filter(({ tested }) => tested === when);

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
