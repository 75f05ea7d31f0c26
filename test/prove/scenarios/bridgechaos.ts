/** Repeated faults of the connection between the bridge and the API server. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Kind } from "../../../bus/kube/kind.ts";
import { Note } from "../../fixtures/functions/notes.ts";
import { Shelf } from "../../fixtures/functions/shelves.ts";
import { type BridgeReplica, type OwnBridged, startOwnBridged } from "../../harness/bridged.ts";
import { matchesApiServer, publishedInOrder } from "../buschecks.ts";
import { ConnectionFaults, type FaultSizes, listsOf, openDetour } from "../connectionfaults.ts";
import { type Check, figure, type Scenario, type Trial } from "../scenario.ts";
import { checkShelves, firstReconcile, historyOf, readSightings } from "../shelfchecks.ts";
import { type Shelving, startShelving } from "../shelving.ts";

const functionPath = fileURLToPath(new URL("../../fixtures/functions/shelves.ts", import.meta.url));
const kinds: readonly Kind[] = [Note, Shelf];
const workers = 2;

export const bridgeChaos: Scenario = {
  number: 2,
  name: "bridge-chaos",
  title:
    "Objects of two test kinds, Shelf and Note, are created, changed, moved, and deleted while the bridge's API server connection is reset, silent, throttled, or expired, and while the bridge is dead.",
  promise: "bus and functions match the API server after connection faults and bridge crashes",
  fullMinutes: 12,
  // test/faults/bridge-*.test.ts cover each of its faults with stricter checks.
  tested: "nightly",
  async run(trial) {
    const sizes = sizesOf(trial);
    const bridged = await startOwnBridged([Shelf]);
    trial.defer(() => bridged.stop());
    const journals = join(bridged.environment.platform.directory, "sightings");
    await mkdir(journals);
    const detour = await openDetour(trial, bridged.environment);
    const bridge = await startReplicas(bridged, detour.kubeconfigPath, journals);
    const shelving = startShelving(bridged, trial);
    trial.defer(() => shelving.stop());
    const running: Running = { bridged, bridge, shelving, journals };
    const faults = new ConnectionFaults(detour, sizes, trial.signal);
    const begun = performance.now();
    for (let round = 1; round <= sizes.rounds; round++) {
      for (const inject of [
        () => faults.reset(),
        () => faults.throttle(),
        () => faults.expire(bridge, kinds),
        () => faults.silence(),
        () => crashBridge(running, sizes.downMillis, trial.signal),
      ]) {
        await inject();
        shelving.nextCohort();
      }
      trial.say(`round ${round} of ${sizes.rounds}, ${figure(shelving.writes.length)} writes`);
    }
    // The last changes are also made during a fault.
    await faults.reset();
    await shelving.stop();
    const minutes = (performance.now() - begun) / 60_000;
    const stopped = performance.now();
    const matches: Check[] = [];
    for (const kind of kinds) matches.push(await matchesBus(running, kind));
    const { checks, sightings } = await checkShelves(bridged, journals, shelving.writes);
    const seconds = (performance.now() - stopped) / 1000;
    return {
      injected: injectedBy(faults, sizes),
      checks: [...checks, ...matches, publishedInOrder(bridged.history)],
      figures: [
        { what: "minutes of chaos", found: figure(minutes) },
        { what: "writes to the API server", found: figure(shelving.writes.length) },
        { what: "reconciles and finalizes", found: figure(sightings.length) },
        { what: "lists of notes and of shelves", found: listsOf(bridge, kinds).join(" and ") },
        { what: "seconds from the last write until all is reconciled", found: figure(seconds) },
      ],
    };
  },
};

/** The running processes and writes. */
interface Running {
  readonly bridged: OwnBridged;
  readonly bridge: BridgeReplica;
  readonly shelving: Shelving;
  /** The folder of the workers' journals. */
  readonly journals: string;
}

/** The sizes of the run. */
interface Sizes extends FaultSizes {
  /** Each round injects every fault once. */
  readonly rounds: number;
  /** The bridge is dead for at least this long. */
  readonly downMillis: number;
}

/** Full size is four rounds, two and a half minutes each. */
const sizesOf = ({ scaled }: Trial): Sizes => ({
  rounds: scaled(4, 1),
  resets: scaled(8, 2),
  resetMillis: scaled(5000, 1000),
  throttledMillis: scaled(5000, 1500),
  silentMillis: scaled(30_000, 3000),
  downMillis: scaled(60_000, 3000),
});

/** Starts the workers and the bridge, and returns the bridge. */
async function startReplicas(
  bridged: OwnBridged,
  kubeconfig: string,
  journals: string,
): Promise<BridgeReplica> {
  const [bridge] = await Promise.all([
    bridged.bridge("bridge", {
      args: [functionPath],
      env: { KUBECONFIG: kubeconfig, DENREI_WATCH_SECONDS: "2" },
    }),
    ...Array.from({ length: workers }, (_, at) =>
      bridged.environment.worker(`worker-${at + 1}`, [functionPath], {
        env: { DENREI_TEST_JOURNALS: journals, DENREI_LOG_LEVEL: "info" },
      }),
    ),
  ]);
  return bridge;
}

/**
 * The bridge is dead while objects come and go, and the history is lost before it returns: etcd is compacted, and the API server,
 * which keeps some history in memory, is restarted.
 */
async function crashBridge(
  { bridged, bridge, shelving, journals }: Running,
  millis: number,
  signal: AbortSignal,
): Promise<void> {
  const { etcd, apiserver } = bridged.environment.platform;
  const { name } = await firstReconcile(journals, signal);
  await bridge.kill();
  // Delete a shelf, which has a finalizer, even if a slow machine makes few writes.
  await shelving.remove(name);
  await sleep(millis / 3, undefined, { signal });
  await compact(etcd.url);
  await apiserver.stop("SIGKILL");
  await apiserver.start(signal);
  await sleep((millis * 2) / 3, undefined, { signal });
  await bridge.start(signal);
}

const injectedBy = ({ counts }: ConnectionFaults, sizes: Sizes): string[] => [
  `resets: ${counts.resets} (${counts.connections} connections)`,
  `silences of ${sizes.silentMillis / 1000} s: ${counts.silences}`,
  `calls answered 429: ${counts.throttled}`,
  `watches answered 410: ${counts.expired}`,
  `kill -9 of the bridge for ${sizes.downMillis / 1000} s or more: ${sizes.rounds}`,
  `etcd compacted and the API server killed meanwhile: ${sizes.rounds}`,
];

const matchesBus = ({ bridged, shelving, journals }: Running, kind: Kind): Promise<Check> =>
  matchesApiServer({
    what: `${kind.kind} objects on the bus match the API server`,
    untilEqual: () => bridged.untilSettled(kind),
    count: async () => figure((await bridged.environment.list(kind)).length),
    async events(differences) {
      const name = /^(?:.* )?\S*?([^\s/]+): the API says/m.exec(differences)?.[1] ?? "";
      return historyOf([name], shelving.writes, bridged.history.all, await readSightings(journals));
    },
  });

/** Compacts the whole history of an etcd; https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
async function compact(etcd: string): Promise<void> {
  const call = async (path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${etcd}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`expected etcd to answer ${path}, found ${await answer.text()}`);
    return answer.json();
  };
  const found = (await call("range", { key: Buffer.from("none").toString("base64") })) as {
    header: { revision: string };
  };
  await call("compaction", { revision: found.header.revision, physical: true });
}
