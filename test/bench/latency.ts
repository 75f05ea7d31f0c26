/** One Hikawa at a time: the time from its create to its first word. */
import { setTimeout as sleep } from "node:timers/promises";
import { Zundoko } from "../../functions/zundoko/kinds.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawa, isKiyoshied, namesOf, waitForHikawas, watchKind } from "./hikawas.ts";
import { verifySongs } from "./verify.ts";

/**
 * The rest between the end of one song and the next create, in milliseconds. After a rest all processes are done with the last song
 * and idle, as when a user creates a Hikawa; back to back, the last song is still being cleaned up.
 */
export const rests = { "from rest": 50, "back to back": 0 } as const;
export type Pace = keyof typeof rests;

/**
 * Milliseconds from sending the create to the watch event of the first Zundoko, for `count` Hikawas. Each song ends before the next
 * Hikawa is created.
 */
export async function latencies(
  arena: BenchEnvironment,
  prefix: string,
  count: number,
  pace: Pace = "back to back",
): Promise<number[]> {
  const names = namesOf(prefix, count);
  const heard = new Map(names.map((name) => [name, Promise.withResolvers<number>()]));
  const unwatch = await watchKind(arena, Zundoko, ({ metadata }, type) => {
    const at = performance.now();
    if (type === "ADDED") heard.get(metadata.name.replace(/-zundoko-\d+$/, ""))?.resolve(at);
  });
  const songs = await waitForHikawas(arena, names, isKiyoshied);
  const millis: number[] = [];
  try {
    for (const [name, { promise: first }] of heard) {
      if (rests[pace] > 0) await sleep(rests[pace], undefined, { signal: arena.signal });
      const sent = performance.now();
      await createHikawa(arena, name, 0);
      await songs.one(name);
      millis.push((await first) - sent);
    }
  } finally {
    songs.stop();
    unwatch();
  }
  await verifySongs(arena, names);
  return millis;
}
