/** 200 Hikawas on three replicas while workers, the bridge and the bus are killed (-9). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { killAtRandom } from "../harness/crowd.ts";
import { type Kit, type Replica, startKit } from "../harness/kit.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";

let kit: Kit;
let workers: Replica[];
let bridge: Replica;
const at = (name: string) => ({ namespace: "default", name });

beforeAll(async () => {
  kit = await startKit();
  const env = {
    DENREI_ACK_WAIT_SECONDS: "4",
    DENREI_LOG_LEVEL: "info",
    [wordsVariable]: "Doko,Zun,Zun,Doko,Doko,Zun,Doko,Zun,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko",
  };
  bridge = await kit.bridge("bridge-1", { env });
  workers = await Promise.all([1, 2, 3].map((n) => kit.worker(`worker-${n}`, ["hikawa"], { env })));
});
afterAll(() => kit?.stop());

/** How many words have been said so far. */
async function wordsSaid(): Promise<number> {
  const { items, metadata } = await kit.client.list(Zundoko, "default", { limit: 1 });
  return items.length + (metadata.remainingItemCount ?? 0);
}

/** Creates Hikawas, a few at a time, and resolves when all of them have ended. */
async function singAll(names: readonly string[]): Promise<void> {
  const waiting = [...names];
  const creators = Array.from({ length: 5 }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await kit.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
    }
  });
  await Promise.all(creators);
  for (const name of names) await kit.until(Hikawa, at(name), isFinished, 150_000);
}

test("every song ends right while workers and the bridge are killed at random", async () => {
  const names = Array.from({ length: 200 }, (_, i) => `killed-${i}`);
  const ended = singAll(names);
  const kills = await killAtRandom([...workers, bridge], ended, 700);
  await ended;
  await expectFinishedSongs(kit, names);
  expect(kills).toBeGreaterThan(3);
}, 200_000);

test("every song ends right while the bus is killed and started again", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `cut-off-${i}`);
  const ended = singAll(names);
  const nats = Object.assign(Object.create(kit.platform.nats), {
    kill: () => kit.platform.nats.stop("SIGKILL"),
  });
  let before = -1;
  // On a machine that is busy, reconnecting can take longer than the pauses: nobody would ever say a word.
  const kills = await killAtRandom([nats], ended, 1500, async () => {
    const said = await wordsSaid();
    const isMore = said > before;
    if (isMore) before = said;
    return isMore;
  });
  await ended;
  await expectFinishedSongs(kit, names);
  expect(kills).toBeGreaterThan(0);
}, 200_000);

test("a delayed request survives the death of all workers", async () => {
  await kit.client.create(Hikawa, hikawa("patient", 4000), { fieldManager: "test" });
  await kit.until(Hikawa, at("patient"), ({ status }) => status?.numZundokosSaid === 1);
  await Promise.all(workers.map((worker) => worker.kill()));
  const saidBefore = (await kit.client.get(Hikawa, at("patient"))).status?.numZundokosSaid;
  await Promise.all(workers.map((worker) => worker.start()));
  await kit.until(Hikawa, at("patient"), ({ status }) => (status?.numZundokosSaid ?? 0) > (saidBefore ?? 0));
});
