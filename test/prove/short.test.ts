/** The scenarios of `npm run prove` whose limits are counts: these hold on a busy machine, so the scenarios run side by side. */
import { test } from "vitest";
import { expectToHold, scenariosWith } from "./shortest.ts";

for (const scenario of scenariosWith("counts"))
  test.concurrent(scenario.name, { timeout: 240_000 }, (context) => expectToHold(scenario, context));
