/**
 * The ticket queue's invariants on a real server with three real processes, which are killed (-9), paused beyond
 * their deadline and cut off from the bus while objects change.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { busRoles } from "../../bus/permissions.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type Child, type LocalNats, startLocalNats } from "../../deploy/local/index.ts";
import { Counted } from "../fixtures/queue-replica.ts";
import { Lines } from "../harness/lines.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { random } from "../harness/random.ts";

interface Run {
  readonly key: string;
  readonly version: string;
  readonly from: string;
  readonly to: string;
}

const keys = Array.from({ length: 25 }, (_, i) => `key-${i}`);
const program = fileURLToPath(new URL("../fixtures/queue-replica.ts", import.meta.url));
const interests = [{ scope: { fn: "counted", cluster: "test" }, kinds: [Counted] }];
const lines = new Lines();
/** Workers that have said that they are ready in this life of theirs. */
const heard = new Set<string>();
let local: LocalNats;
let bus: Bus;
let publisher: Publisher;
const replicas: Child[] = [];

beforeAll(async () => {
  local = await startLocalNats({ roles: busRoles(interests, "test") });
  bus = await connectBus({ url: local.natsUrl, name: "test" });
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 3000 }, interests);
  publisher = await publisherOf(bus, Counted);
  for (const name of ["replica-1", "replica-2", "replica-3"]) {
    replicas.push(
      await local.spawn({
        name,
        command: process.execPath,
        args: [program],
        env: {
          NATS_URL: local.natsUrlFor("counted"),
          DENREI_REPLICA: name,
          NODE_NO_WARNINGS: "1",
          VITEST: undefined,
        },
        onLine(line) {
          lines.push(line);
          heard.add(line.includes('"worker ready"') ? name : "");
        },
        // A worker that is killed before it has begun proves nothing.
        async ready() {
          if (!heard.delete(name)) throw new Error("it has not said that it is ready");
        },
        readyMillis: 60_000,
      }),
    );
  }
});
afterAll(async () => {
  await bus?.nc.close();
  await local?.stop();
});

const runs = (): Run[] =>
  lines.all.filter((line) => line.startsWith('{"key"')).map((line) => JSON.parse(line) as Run);

/** Every key's last version was seen by a reconcile. */
async function untilAllSeen(last: ReadonlyMap<string, number>): Promise<void> {
  const missing = new Map(last);
  const note = ({ key, version }: Run) => {
    if (missing.get(key) === Number(version)) missing.delete(key);
    return missing.size === 0;
  };
  if (runs().filter(note).length > 0 && missing.size === 0) return;
  try {
    await lines.until((line) => line.startsWith('{"key"') && note(JSON.parse(line) as Run), 60_000);
  } catch {
    throw new Error(`the last version of these keys was never seen: ${JSON.stringify([...missing])}`);
  }
}

/** Two reconciles of one key whose effects were allowed never overlap. */
function expectNoOverlap(): void {
  const byKey = Map.groupBy(runs(), ({ key }) => key);
  for (const [key, list] of byKey) {
    const sorted = list
      .map(({ from, to }) => [BigInt(from), BigInt(to)] as const)
      .sort((a, b) => (a[0] < b[0] ? -1 : 1));
    for (const [i, [from]] of sorted.entries()) {
      const before = sorted[i - 1];
      if (before) expect(from >= before[1], `${key}: two owners at once`).toBe(true);
    }
  }
}

/** Changes random objects until `until` settles; returns the last version of each. */
async function change(
  next: () => number,
  until: Promise<unknown>,
  version: { now: number },
): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  let going = true;
  void until.finally(() => {
    going = false;
  });
  while (going) {
    // A few keys are hot.
    const key = keys[Math.floor(next() ** 2 * keys.length)] as string;
    version.now++;
    await publisher.publish("modified", stored(Counted, key, version.now, { number: version.now }), "watch");
    last.set(key, version.now);
    if (version.now % 10 === 0) await sleep(next() * 10);
  }
  await publisher.settled();
  return last;
}

const version = { now: 0 };

async function restart(child: Child): Promise<void> {
  await child.stop("SIGKILL");
  await child.start();
}

test.each([
  ["workers are killed", 6, async (next: () => number) => restart(replicas[Math.floor(next() * 3)] as Child)],
  [
    "a worker is paused beyond its deadline",
    2,
    async (next: () => number) => {
      const { pid } = replicas[Math.floor(next() * 3)] as Child;
      process.kill(pid ?? 0, "SIGSTOP");
      await sleep(4500);
      process.kill(pid ?? 0, "SIGCONT");
    },
  ],
  ["the bus is killed and started again", 3, async () => restart(local.nats as unknown as Child)],
])("no overlap and no lost wake-up while %s", async (_, times, fault) => {
  const next = random(Number(process.env.DENREI_SEED ?? 1));
  const faults = (async () => {
    for (let i = 0; i < times; i++) {
      await sleep(300 + next() * 700);
      await fault(next);
    }
  })();
  const last = await change(next, faults, version);
  await faults;
  await untilAllSeen(last);
  expectNoOverlap();
  expect(runs().length).toBeGreaterThan(keys.length);
});
