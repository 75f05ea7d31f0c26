/** Every scenario of `npm run prove`, in a few minutes: smaller, with the same faults and the same limits. */
import { expect, onTestFinished, test } from "vitest";
import { describe, prove } from "./prove.ts";
import { scenarios } from "./scenarios/index.ts";

/** Nothing is gained by a size below the least that a scenario can do with. */
const shortest = 1e-9;
const seed = Number(process.env.DENREI_SEED ?? 1);

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
  "%s",
  { timeout: 240_000 },
  async (_, scenario) => {
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
  },
);
