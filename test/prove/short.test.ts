/** Scenarios of `npm run prove` whose limits hold on a busy machine, so they run side by side. */
import { test } from "vitest";
import { expectToHold, scenariosOf } from "./shortest.ts";

for (const scenario of scenariosOf("merge"))
  test.concurrent(scenario.name, { timeout: 240_000 }, (context) => expectToHold(scenario, context));
