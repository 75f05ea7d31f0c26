/** Kills replicas at random. A seed makes each run repeatable. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { streams } from "../../bus/subjects.ts";
import type { Replica } from "./environment.ts";
import { random } from "./random.ts";

/** How often to poll whether a replica may be killed. Milliseconds. */
const pollMillis = 200;

/** How often dead letters are replayed. Milliseconds. */
const replayMillis = 1000;

/** When replicas are killed. */
export interface Kills {
  /** The mean time between a start and the next kill. Milliseconds. */
  readonly pauseMillis: number;
  /** Whether the next kill is allowed. Without this, no work might ever finish between two kills. */
  readonly mayKill: () => Promise<boolean>;
  /** Called before each kill. */
  readonly onKill?: () => void;
}

/** Kills (-9) one replica after the other at random moments and restarts each, until `until` settles. Resolves with the number of kills. */
export async function killAtRandom(
  replicas: readonly Replica[],
  until: Promise<unknown>,
  { pauseMillis, mayKill, onKill }: Kills,
): Promise<number> {
  const next = random(Number(process.env.DENREI_SEED ?? 1));
  const isPending = pendingStateOf(until);
  let kills = 0;
  while (isPending()) {
    await sleep(pauseMillis * (0.5 + next()));
    while (isPending() && !(await mayKill())) await sleep(pollMillis);
    if (!isPending()) break;
    const victim = replicas[Math.floor(next() * replicas.length)] as Replica;
    onKill?.();
    await victim.kill();
    kills++;
    await victim.start();
  }
  return kills;
}

/**
 * For {@link Kills.mayKill}: whether an object has changed since it last returned true. On a busy machine the pauses alone are too short
 * for any work.
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

/**
 * Replays dead letters of the functions, as an operator would, until `until` settles. A request whose workers were killed three times
 * looks like one that crashes its workers, so it is dead-lettered. Any other dead letter fails the test.
 */
export async function replayInnocents(
  bus: Bus,
  functions: readonly string[],
  until: Promise<unknown>,
): Promise<void> {
  const isPending = pendingStateOf(until);
  const queues = functions.map((fn) => {
    const scope = { fn, cluster: "default" };
    return { letters: deadLetters(bus, scope), queue: ticketQueue(bus, scope, { replica: "test" }) };
  });
  for (; isPending(); await sleep(replayMillis))
    for (const { letters, queue } of queues)
      for (const { key, letter } of await letters.list()) {
        expect(letter.reason, letter.message).toBe("WorkerCrashed");
        await letters.replay(queue, key);
      }
}

/** Whether a promise has not settled yet. */
function pendingStateOf(promise: Promise<unknown>): () => boolean {
  let isPending = true;
  const settle = () => {
    isPending = false;
  };
  void promise.then(settle, settle);
  return () => isPending;
}
