/** Killing replicas at random, as often as the test asks, with a seed that makes it repeatable. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../bus/connect.ts";
import { streams } from "../../bus/subjects.ts";
import type { Replica } from "./kit.ts";
import { random } from "./random.ts";

/** How often it is asked whether a replica may be killed. Milliseconds. */
const lookMillis = 200;

/**
 * Kills (-9) one replica after the other at random moments and starts each again, until `until` settles. Where nothing would
 * ever come to its end because of that, `mayKill` says when the next one may be killed.
 */
export async function killAtRandom(
  replicas: readonly Replica[],
  until: Promise<unknown>,
  pauseMillis: number,
  mayKill: () => Promise<boolean> = async () => true,
): Promise<number> {
  const next = random(Number(process.env.DENREI_SEED ?? 1));
  let going = true;
  void until.then(
    () => {
      going = false;
    },
    () => {
      going = false;
    },
  );
  let kills = 0;
  while (going) {
    await sleep(pauseMillis * (0.5 + next()));
    while (going && !(await mayKill())) await sleep(lookMillis);
    if (!going) break;
    const victim = replicas[Math.floor(next() * replicas.length)] as Replica;
    await victim.kill();
    kills++;
    await victim.start();
  }
  return kills;
}

/**
 * Says whether an object has changed since the last time that it said yes. On a busy machine work can take longer than the pauses
 * between kills, and would never end if none of it had to be done in between.
 */
export function changedSince({ jsm }: Pick<Bus, "jsm">): () => Promise<boolean> {
  let before = -1;
  return async () => {
    const { state } = await jsm.streams.info(streams.objects);
    if (state.last_seq === before) return false;
    before = state.last_seq;
    return true;
  };
}
