/** Checks that the bus follows the API server. */
import type { History } from "../harness/history.ts";
import { type Check, noneOf } from "./scenario.ts";

/** Checks that the versions of each object are published in order. `context` follows the first offending messages. */
export function publishedInOrder(history: History, context: readonly string[] = []): Check {
  const disorder = history.disorder();
  return noneOf("changes published out of order", disorder.length, history.all.length, {
    history: [...disorder.slice(0, 20), ...context],
  });
}

/** A comparison of the bus with the API server. */
export interface Comparison {
  /** The name of the check. */
  readonly what: string;
  /** Rejects with the differences if they remain. */
  untilEqual(): Promise<unknown>;
  /** Counts the objects if they match. */
  count(): Promise<string>;
  /** The events to show with the differences. */
  events(differences: string): readonly string[] | Promise<readonly string[]>;
}

/** Checks that the bus matches the API server in the end. */
export async function matchesApiServer({ what, untilEqual, count, events }: Comparison): Promise<Check> {
  const limit = "all of them";
  const differences = await untilEqual().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (differences === undefined) return { what, limit, found: await count(), holds: true };
  const history = [differences, ...(await events(differences))];
  return { what, limit, found: "they differ", holds: false, history };
}
