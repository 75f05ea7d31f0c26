/** Scenarios of `npm run prove` as tests: the same faults at the smallest size. */
import type { TestContext } from "vitest";
import { describe, prove } from "./prove.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** Each scenario has a least size; nothing is gained by a smaller one. */
const shortest = 1e-9;
const seed = Number(process.env.DENREI_SEED ?? 1);

/** Their limits are counts, which hold on a busy machine as well, and the smallest size can break them. */
const beforeMerge = ["queue", "bridge-chaos", "webhooks"];

/** The scenarios that guard a merge, or the others: those with limits of time or memory, and the slow ones. */
export const scenariosOf = (when: "merge" | "night"): readonly Scenario[] =>
  scenarios.filter(({ name }) => beforeMerge.includes(name) === (when === "merge"));

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
