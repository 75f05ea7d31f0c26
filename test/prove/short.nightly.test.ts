/** The other scenarios of `npm run prove`. The nightly run has the machine to itself, and many of their limits are times. */
import { test } from "vitest";
import { expectToHold, scenariosTested } from "./shortest.ts";

for (const scenario of scenariosTested("nightly"))
  test(scenario.name, { timeout: 240_000 }, (context) => expectToHold(scenario, context));
