/** Scenarios of `npm run prove` whose limits hold on a busy machine, so they run side by side. */
import { test } from "vitest";
import { expectToHold, scenariosTested } from "./shortest.ts";

for (const scenario of scenariosTested("always"))
  test.concurrent(scenario.name, { timeout: 900_000 }, (context) => expectToHold(scenario, context));
