/** One Hikawa at a time: the time from its create to its first word. */
import { setTimeout as sleep } from "node:timers/promises";
import { Zundoko } from "../../functions/zundoko/kinds.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawa, isKiyoshied, namesOf, waitForHikawas, watchKind } from "./hikawas.ts";
import { verifyHikawas } from "./verify.ts";

/**
 * The rest between the end of one Hikawa and the next create, in milliseconds. After a rest, all processes are idle, as when a user
 * creates a Hikawa. Back to back, the last Hikawa is still being cleaned up.
 */
export const rests = { "from rest": 50, "back to back": 0 } as const;
export type Pace = keyof typeof rests;

/**
 * Milliseconds from sending the create to the watch event of the first Zundoko, for `count` Hikawas. Each Hikawa completes before
 * the next is created.
 */
export async function latencies(
  environment: BenchEnvironment,
  prefix: string,
  count: number,
  pace: Pace = "back to back",
): Promise<number[]> {
  const names = namesOf(prefix, count);
  const firstWords = new Map(names.map((name) => [name, Promise.withResolvers<number>()]));
  const unwatch = await watchKind(environment, Zundoko, ({ metadata }, type) => {
    const at = performance.now();
    if (type === "ADDED") firstWords.get(metadata.name.replace(/-zundoko-\d+$/, ""))?.resolve(at);
  });
  const waiting = await waitForHikawas(environment, names, isKiyoshied);
  const millis: number[] = [];
  try {
    for (const [name, { promise: first }] of firstWords) {
      if (rests[pace] > 0) await sleep(rests[pace], undefined, { signal: environment.signal });
      const sent = performance.now();
      await createHikawa(environment, name, 0);
      await waiting.one(name);
      millis.push((await first) - sent);
    }
  } finally {
    waiting.stop();
    unwatch();
  }
  await verifyHikawas(environment, names);
  return millis;
}
