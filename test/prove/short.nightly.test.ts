/** The scenarios of `npm run prove` whose limits are times. The nightly run has the machine to itself. */
import { test } from "vitest";
import { expectToHold, scenariosWith } from "./shortest.ts";

for (const scenario of scenariosWith("times"))
  test(scenario.name, { timeout: 240_000 }, (context) => expectToHold(scenario, context));
