/** Repeated faults of the connection between the bridge and the API server. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import type { Kind } from "../../../bus/kube/kind.ts";
import { Note } from "../../fixtures/functions/notes.ts";
import { Shelf } from "../../fixtures/functions/shelves.ts";
import { startGate, startProxy } from "../../fixtures/proxy.ts";
import { startOwnBridged } from "../../harness/bridged.ts";
import { type Check, figure, type Scenario } from "../scenario.ts";
import { checkShelves, firstReconcile, historyOf, readSightings } from "../shelfchecks.ts";
import { startShelving } from "../shelving.ts";

const functionPath = fileURLToPath(new URL("../../fixtures/functions/shelves.ts", import.meta.url));
const kinds: readonly Kind[] = [Note, Shelf];
const workers = 2;

const tooMany = {
  status: 429,
  headers: { "retry-after": "1" },
  body: JSON.stringify({ kind: "Status", message: "Too many requests, please try again later.", code: 429 }),
};
const expired = {
  status: 200,
  body: `${JSON.stringify({
    type: "ERROR",
    object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" },
  })}\n`,
};

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
    const { say, signal, defer } = trial;
    // Full size is four runs of all faults, two and a half minutes each.
    const rounds = trial.scaled(4, 1);
    const resets = trial.scaled(8, 2);
    const resetMillis = trial.scaled(5000, 1000);
    const throttledMillis = trial.scaled(5000, 1500);
    const silentMillis = trial.scaled(30_000, 3000);
    const downMillis = trial.scaled(60_000, 3000);

    const bridged = await startOwnBridged([Shelf]);
    defer(() => bridged.stop());
    const { environment: kit, history } = bridged;
    const { apiserver, etcd, directory, kubeconfigPath } = kit.platform;
    const journals = join(directory, "sightings");
    await mkdir(journals);
    const gate = await startGate(kit.client.connection);
    defer(() => gate.close());
    const proxy = await startProxy(Number(new URL(gate.url).port));
    defer(() => proxy.close());
    const kubeconfig = parse(await readFile(kubeconfigPath, "utf8"));
    kubeconfig.clusters[0].cluster = {
      server: `http://127.0.0.1:${proxy.port}`,
      "insecure-skip-tls-verify": true,
    };
    const detour = join(directory, "detour.kubeconfig");
    await writeFile(detour, stringify(kubeconfig), { mode: 0o600 });

    const [bridge] = await Promise.all([
      bridged.bridge("bridge", {
        args: [functionPath],
        env: { KUBECONFIG: detour, DENREI_WATCH_SECONDS: "2" },
      }),
      ...Array.from({ length: workers }, (_, at) =>
        kit.worker(`worker-${at + 1}`, [functionPath], {
          env: { DENREI_TEST_JOURNALS: journals, DENREI_LOG_LEVEL: "info" },
        }),
      ),
    ]);
    const shelving = startShelving(bridged, trial);
    defer(() => shelving.stop());
    const listed = (): number[] => kinds.map((kind) => bridge.logged("listed", kind).length);
    const pause = (millis: number): Promise<void> => sleep(millis, undefined, { signal });
    const count = {
      resets: 0,
      connections: 0,
      silences: 0,
      throttled: 0,
      expired: 0,
      downs: 0,
      compactions: 0,
    };
    const began = performance.now();

    async function reset(): Promise<void> {
      for (let times = 0; times < resets; times++) {
        await pause(resetMillis);
        count.connections += proxy.reset();
        count.resets++;
      }
    }

    /** Every call is answered 429 for a while. */
    async function throttle(): Promise<void> {
      gate.answer(() => {
        count.throttled++;
        return tooMany;
      });
      // End the open watches, so that they are retried.
      proxy.reset();
      await pause(throttledMillis);
      gate.answer(() => undefined);
    }

    /** The position of each kind's watch expires. */
    async function expire(): Promise<void> {
      const before = listed();
      const left = new Set(kinds.map(({ plural }) => `/${plural}?`));
      const broken = Promise.withResolvers<void>();
      gate.answer(({ url = "" }) => {
        const path = [...left].find((one) => url.includes(one) && url.includes("watch=1"));
        if (path === undefined) return undefined;
        left.delete(path);
        count.expired++;
        if (left.size === 0) broken.resolve();
        return expired;
      });
      await Promise.race([broken.promise, sleep(60_000, undefined, { signal, ref: false })]);
      gate.answer(() => undefined);
      if (left.size > 0)
        throw new Error(`expected the bridge to watch ${[...left].join(" and ")} within 60 s`);
      // The lists must end before the next fault, which needs a watch to break.
      await bridge.log.until(() => listed().every((count, at) => count > (before[at] ?? 0)));
    }

    async function silence(): Promise<void> {
      const { thaw } = proxy.freezeAll();
      count.silences++;
      try {
        await pause(silentMillis);
      } finally {
        thaw();
      }
    }

    /**
     * The bridge is dead while objects come and go, and the history is lost before it returns: etcd is compacted, and the API server,
     * which keeps some history in memory, is restarted.
     */
    async function down(): Promise<void> {
      const { name } = await firstReconcile(journals, signal);
      await bridge.kill();
      count.downs++;
      // Delete a shelf, which has a finalizer, even if a slow machine makes few writes.
      await shelving.remove(name);
      await pause(downMillis / 3);
      await compact(etcd.url);
      await apiserver.stop("SIGKILL");
      await apiserver.start(signal);
      count.compactions++;
      await pause((downMillis * 2) / 3);
      await bridge.start(signal);
    }

    for (let round = 1; round <= rounds; round++) {
      for (const fault of [reset, throttle, expire, silence, down]) {
        await fault();
        shelving.nextCohort();
      }
      say(`round ${round} of ${rounds}, ${figure(shelving.writes.length)} writes`);
    }
    // The last changes are also made during a fault.
    await reset();
    await shelving.stop();
    const minutes = (performance.now() - began) / 60_000;
    const stopped = performance.now();

    const agreed: Check[] = [];
    for (const kind of kinds) {
      const trouble = await bridged.untilSettled(kind).then(
        () => undefined,
        (error: Error) => error.message,
      );
      const name = /^(?:.* )?\S*?([^\s/]+): the API says/m.exec(trouble ?? "")?.[1] ?? "";
      agreed.push({
        what: `${kind.kind} objects on the bus match the API server`,
        limit: "all of them",
        found: trouble === undefined ? figure((await kit.list(kind)).length) : "they differ",
        holds: trouble === undefined,
        ...(trouble !== undefined && {
          history: [
            trouble,
            ...historyOf([name], shelving.writes, history.all, await readSightings(journals)),
          ],
        }),
      });
    }
    const { checks, sightings } = await checkShelves(bridged, journals, shelving.writes);
    const seconds = (performance.now() - stopped) / 1000;
    const disorder = history.disorder();
    return {
      injected: [
        `resets: ${count.resets} (${count.connections} connections)`,
        `silences of ${silentMillis / 1000} s: ${count.silences}`,
        `calls answered 429: ${count.throttled}`,
        `watches answered 410: ${count.expired}`,
        `kill -9 of the bridge for ${downMillis / 1000} s or more: ${count.downs}`,
        `etcd compacted and the API server killed meanwhile: ${count.compactions}`,
      ],
      checks: [
        ...checks,
        ...agreed,
        {
          what: "changes published out of order",
          limit: "0",
          found: `${disorder.length} of ${figure(history.all.length)}`,
          holds: disorder.length === 0 && history.all.length > 0,
          ...(disorder.length > 0 && { history: disorder.slice(0, 20) }),
        },
      ],
      figures: [
        { what: "minutes of chaos", found: figure(minutes) },
        { what: "writes to the API server", found: figure(shelving.writes.length) },
        { what: "reconciles and finalizes", found: figure(sightings.length) },
        { what: "lists of notes and of shelves", found: listed().join(" and ") },
        { what: "seconds from the last write until all is reconciled", found: figure(seconds) },
      ],
    };
  },
};

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
