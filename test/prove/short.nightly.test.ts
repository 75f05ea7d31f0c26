/** The scenarios of `npm run prove` with limits of time or memory. The nightly run has the machine to itself. */
import { test } from "vitest";
import { expectToHold, scenariosOf } from "./shortest.ts";

for (const scenario of scenariosOf("night"))
  test(scenario.name, { timeout: 240_000 }, (context) => expectToHold(scenario, context));
