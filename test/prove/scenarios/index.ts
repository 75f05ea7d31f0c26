/** Every scenario, in the order of docs/reliability.md. */
import type { Scenario } from "../scenario.ts";
import { queue } from "./queue.ts";

export const scenarios: readonly Scenario[] = [queue];
