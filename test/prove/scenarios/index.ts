/** Every scenario, in the order of docs/reliability.md. */
import type { Scenario } from "../scenario.ts";

export const scenarios: readonly Scenario[] = [];
