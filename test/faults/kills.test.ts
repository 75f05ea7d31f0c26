/** Hikawas on several replicas while workers, the bridge, and the bus are killed (-9). */
import { afterAll, beforeAll, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { changedSince, killAtRandom, replayInnocents } from "../harness/crowd.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { sized } from "../harness/size.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { keyState } from "../ket/keystate.ts";

const scope = { fn: "hikawa", cluster: "default" };
/** For all songs of a test, on a busy machine. Milliseconds. */
const deadlineMillis = 420_000;
const timeout = deadlineMillis + 60_000;

let environment: TestEnvironment;
let bus: Bus;
let workers: Replica[];
let bridge: Replica;
const at = (name: string) => ({ namespace: "default", name });

beforeAll(async () => {
  environment = await startTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test", timeoutMillis: deadlineMillis });
  const env = {
    DENREI_ACK_WAIT_SECONDS: "4",
    DENREI_LOG_LEVEL: "info",
    [wordsVariable]: "Doko,Zun,Zun,Doko,Doko,Zun,Doko,Zun,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko",
  };
  bridge = await environment.bridge("bridge-1", { env });
  workers = await Promise.all(
    Array.from({ length: sized(2, 3) }, (_, n) => environment.worker(`worker-${n + 1}`, ["hikawa"], { env })),
  );
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

/** The number of Zundokos created so far. */
async function wordsSaid(): Promise<number> {
  const { items, metadata } = await environment.client.list(Zundoko, "default", { limit: 1 });
  return items.length + (metadata.remainingItemCount ?? 0);
}

/** Creates Hikawas, five at a time, and resolves when all of them have finished. */
async function singAll(names: readonly string[]): Promise<void> {
  const deadline = performance.now() + deadlineMillis;
  const waiting = [...names];
  const creators = Array.from({ length: 5 }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
    }
  });
  await Promise.all(creators);
  for (const name of names) {
    const left = Math.max(1, Math.ceil(deadline - performance.now()));
    await environment.until(Hikawa, at(name), isFinished, left).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await keyState(bus, scope, at(name))}`);
    });
  }
}

/** Runs one wave of songs after another until there were enough kills. Resolves to the names. */
async function singUntil(isEnough: () => boolean, wave: string, size: number): Promise<string[]> {
  const names: string[] = [];
  do {
    const more = Array.from({ length: size }, (_, at) => `${wave}-${names.length + at}`);
    await singAll(more);
    names.push(...more);
  } while (!isEnough());
  return names;
}

test("every song ends correctly while workers and the bridge are killed at random", { timeout }, async () => {
  let begun = 0;
  const ended = singUntil(() => begun > 4, "killed", sized(10, 200));
  await Promise.all([
    killAtRandom([...workers, bridge], ended, {
      pauseMillis: 700,
      mayKill: changedSince(bus),
      onKill: () => {
        begun++;
      },
    }),
    replayInnocents(bus, [scope.fn], ended),
  ]);
  await expectFinishedSongs(environment, await ended);
});

test("every song ends correctly while the bus is killed and restarted", { timeout }, async () => {
  let begun = 0;
  const ended = singUntil(() => begun > 1, "cut-off", sized(8, 40));
  const nats = Object.assign(Object.create(environment.platform.nats), {
    kill: () => environment.platform.nats.stop("SIGKILL"),
  });
  let before = -1;
  // On a busy machine, reconnecting can take longer than the pauses, and no song would proceed.
  const mayKill = async () => {
    const words = await wordsSaid();
    const isMore = words > before;
    if (isMore) before = words;
    return isMore;
  };
  await killAtRandom([nats], ended, {
    pauseMillis: 1500,
    mayKill,
    onKill: () => {
      begun++;
    },
  });
  await expectFinishedSongs(environment, await ended);
});

test("a delayed request survives the death of all workers", async () => {
  await environment.client.create(Hikawa, hikawa("patient", 4000), { fieldManager: "test" });
  await environment.until(Hikawa, at("patient"), ({ status }) => (status?.numZundokosSaid ?? 0) >= 1);
  // Events that a killed worker had in hand would be delivered again, and would request the object.
  await untilQuiet({ bus, client: environment.client, functions: [hikawaFunction as ReconcileFunction] });
  await Promise.all(workers.map((worker) => worker.kill()));
  const saidBefore = (await environment.client.get(Hikawa, at("patient"))).status?.numZundokosSaid;
  await Promise.all(workers.map((worker) => worker.start()));
  await environment.until(
    Hikawa,
    at("patient"),
    ({ status }) => (status?.numZundokosSaid ?? 0) > (saidBefore ?? 0),
  );
});
