/** The program is replaced by a newer version under load, replica by replica, and in part by the older one again. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { consumers, streams, timersStream, workStream } from "../../bus/subjects.ts";
import { currentPlan } from "../../bus/topology/version.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import {
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
} from "../harness/environment.ts";
import { type Difference, otherVersion } from "../harness/otherversion.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { sized } from "../harness/size.ts";
import { expectFinishedSongs, hikawa } from "../harness/song.ts";
import { watchTickets } from "../harness/tickets.ts";

const scope = { fn: "hikawa", cluster: "default" };
const env = {
  DENREI_ACK_WAIT_SECONDS: "10",
  DENREI_LOG_LEVEL: "info",
  [wordsVariable]: "Doko,Zun,Zun,Doko,Doko,Zun,Doko,Zun,Zun,Zun,Zun,Doko",
};
/** The interval between songs. */
const songMillis = sized(500, 200);

/** How the previous version differs: settings of a stream and of a consumer, headers, and fields of messages. */
const before: readonly Difference[] = [
  { file: "bus/package.json", here: '"version": "', there: '"version": "0.0.' },
  {
    file: "bus/topology/version.ts",
    here: `version: ${currentPlan.version},`,
    there: `version: ${currentPlan.version - 1},`,
  },
  { file: "bus/topology/streams.ts", here: "max_age: hours(14 * 24)", there: "max_age: hours(7 * 24)" },
  {
    file: "bus/topology.ts",
    here: "filter_subjects: [work.due(scope)],",
    there: 'filter_subjects: ["timers", "marks"].map((space) => work.due(scope).replace("*", space)),',
  },
  {
    file: "bus/events/kubernetes.ts",
    here: "    data: object,",
    there: '    former: "yes",\n    data: object,',
  },
  {
    file: "bus/worker/router.ts",
    here: "return { ...newRequest(cause, event.traceparent, clock), routed: true };",
    // A cause that only the previous version knows.
    there:
      'return { ...newRequest({ ...cause, type: "former" } as never, event.traceparent, clock), former: "yes" } as Request;',
  },
];

let environment: LocalTestEnvironment;
let bus: Bus;
let older: string;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  older = await otherVersion(join(environment.platform.directory, "older"), before);
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

const bridge = (name: string, sources?: string) => environment.bridge(name, { env, sources });
const started: Replica[] = [];
async function worker(name: string, sources?: string): Promise<Replica> {
  const replica = await environment.worker(name, ["hikawa"], { env, sources });
  started.push(replica);
  return replica;
}

/** Like a rolling update of a Deployment: one surplus pod, none unavailable. */
async function replace(old: Replica, start: () => Promise<Replica>): Promise<Replica> {
  const next = await start();
  await old.stop();
  return next;
}

/** The settings on the bus that differ between the two versions, and the version they are labeled with. */
async function configuration(): Promise<unknown> {
  const [letters, tickets, relay] = await Promise.all([
    bus.jsm.streams.info(streams.deadLetters),
    bus.jsm.streams.info(workStream(scope.fn)),
    bus.jsm.consumers.info(timersStream(scope.fn), consumers.relay(scope)),
  ]);
  const all = [letters.config, tickets.config, relay.config];
  return {
    days: letters.config.max_age / 86_400e9,
    first: relay.config.filter_subjects?.[0]?.split(".")[0],
    versions: all.map(({ metadata }) => metadata?.["denrei.dev/topology"]),
  };
}
const versions = (version: number) => [1, 2, 3].map(() => String(version));
const asBefore = { days: 7, first: "timers", versions: versions(currentPlan.version - 1) };
const asNow = { days: 14, first: "*", versions: versions(currentPlan.version) };

/** Creates a song at each interval until stopped. `until` resolves once there are that many, and rejects if one cannot be created. */
function sing(): { until(count: number): Promise<void>; stop(): Promise<string[]> } {
  const names: string[] = [];
  const stopping = new AbortController();
  async function singOn(): Promise<void> {
    while (!stopping.signal.aborted) {
      const name = `song-${names.length}`;
      names.push(name);
      await environment.client.create(Hikawa, hikawa(name, names.length % 3 === 0 ? 60 : 0), {
        fieldManager: "test",
      });
      await sleep(songMillis, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }
  const ended = singOn();
  ended.catch(() => undefined);
  return {
    async until(count) {
      await Promise.race([
        ended,
        expect.poll(() => names.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count),
      ]);
    },
    async stop() {
      stopping.abort();
      await ended;
      return names;
    },
  };
}

test("an upgrade loses nothing, does nothing twice, and never reverts the newer configuration", async () => {
  const [bridges, workers] = await Promise.all([
    Promise.all([1, 2].map((n) => bridge(`bridge-old-${n}`, older))),
    Promise.all([1, 2].map((n) => worker(`worker-old-${n}`, older))),
  ]);
  expect(await configuration()).toEqual(asBefore);
  const tickets = await watchTickets(bus, scope.fn);
  const song = sing();
  // At least three songs per step, however fast the machine is.
  let steps = 0;
  const stepDone = () => song.until(3 * ++steps);

  const newBridge = await replace(bridges[0] as Replica, () => bridge("bridge-1"));
  await stepDone();
  expect(await configuration()).toEqual(asNow);
  // Old replicas that start beside the new bridge accept its configuration.
  await Promise.all(
    ([bridges[1], workers[0]] as Replica[]).map(async (old) => {
      await old.stop();
      await old.start();
    }),
  );
  await stepDone();
  expect(await configuration()).toEqual(asNow);
  await replace(bridges[1] as Replica, () => bridge("bridge-2"));
  await stepDone();
  const newWorker = await replace(workers[0] as Replica, () => worker("worker-1"));
  await stepDone();
  await replace(workers[1] as Replica, () => worker("worker-2"));
  await stepDone();

  // A partial rollback, then forward again.
  const [oldBridge, oldWorker] = await Promise.all([
    replace(newBridge, () => bridge("bridge-back", older)),
    replace(newWorker, () => worker("worker-back", older)),
  ]);
  await stepDone();
  expect(await configuration()).toEqual(asNow);
  await Promise.all([
    replace(oldBridge, () => bridge("bridge-3")),
    replace(oldWorker, () => worker("worker-3")),
  ]);
  await stepDone();

  const names = await song.stop();
  // While only some kinds had a new bridge, a Zundoko may have arrived later than the status that counts it.
  await vi.waitFor(() => expectFinishedSongs(environment, names), { timeout: 120_000, interval: 500 });
  await untilQuiet({ bus, client: environment.client, functions: [hikawaFunction] });
  await expectFinishedSongs(environment, names);
  expect(await deadLetters(bus, scope).list()).toEqual([]);
  expect(tickets.doubled(started)).toEqual([]);
  expect(tickets.done).toBeGreaterThan(names.length);
  expect(await configuration()).toEqual(asNow);
}, 300_000);
