/** Killing replicas at random, as often as the test asks, with a seed that makes it repeatable. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Replica } from "./kit.ts";
import { random } from "./random.ts";

/** Kills (-9) one replica after the other at random moments and starts each again, until `until` settles. */
export async function killAtRandom(
  replicas: readonly Replica[],
  until: Promise<unknown>,
  pauseMillis: number,
  seed = Number(process.env.DENREI_SEED ?? 1),
): Promise<number> {
  const next = random(seed);
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
    if (!going) break;
    const victim = replicas[Math.floor(next() * replicas.length)] as Replica;
    await victim.kill();
    kills++;
    await victim.start();
  }
  return kills;
}
