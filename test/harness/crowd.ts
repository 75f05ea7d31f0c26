/** Killing replicas at random, as often as the test asks, with a seed that makes it repeatable. */
import { setTimeout as sleep } from "node:timers/promises";
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
