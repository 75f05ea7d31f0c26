/** The time in `denrei dev` from saving a file to the first event handled by the new code. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { launcher } from "../../bus/command/launcher.ts";
import { type KubeClient, kubeClient, resourcePath } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { makeStoneCode, type Stone, source, stoneKind } from "../dev/stonecode.ts";
import { Lines } from "../ket/lines.ts";

/** Interval between created objects, each of which is an event to handle. Milliseconds. */
export const paceMillis = 100;
/** Rest between the effect of one save and the next save. Milliseconds. */
export const restMillis = 1000;

const Pebble = stoneKind("Pebble");

/** Saves this many times, and returns the time of each, in milliseconds. */
export async function measureSaves(
  saves: number,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-saves-"));
  const code = makeStoneCode(join(folder, "project"));
  const { KUBECONFIG: _cluster, NATS_URL: _bus, ...env } = process.env;
  const dev = spawn(process.execPath, [launcher, "dev", "pebble"], {
    cwd: code.folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => dev.once("close", resolve));
  const lines = new Lines();
  createInterface({ input: dev.stdout }).on("line", (line) => lines.push(line));
  try {
    const exported = await lines.until((line) => line.includes("export KUBECONFIG="), 120_000);
    const connection = await openConnection(
      loadKubeconfig({ path: /KUBECONFIG=(\S+)/.exec(exported)?.[1] ?? "" }),
    );
    const found: number[] = [];
    try {
      const client = kubeClient(connection);
      // The API server takes two seconds for the first object of a new kind, which is not part of a save.
      await create(client, "pebble-0");
      for (let round = 2; round <= saves + 1; round++) {
        signal.throwIfAborted();
        found.push(
          await oneSave(client, round, (mark) => code.save("stones/pebble.ts", source({ mark })), signal),
        );
        const line = await lines.until((line) => line.includes(`Code ${round} runs`));
        say(`${line}; first handled after ${Math.round(found.at(-1) ?? 0)} ms`);
        await sleep(restMillis, undefined, { signal });
      }
    } finally {
      await connection.close();
    }
    return found;
  } finally {
    dev.kill("SIGINT");
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

/** From the save to the watch event of the first object that was created after it and that the new code has marked. */
async function oneSave(
  client: KubeClient,
  round: number,
  save: (mark: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const mark = String(round);
  const stopping = new AbortController();
  const { metadata } = await client.list(Pebble, "default", { limit: 1 });
  const events = await client.watch<Stone>({
    path: resourcePath(Pebble, "default"),
    query: { resourceVersion: metadata.resourceVersion },
    signal: AbortSignal.any([signal, stopping.signal]),
  });
  const saved = performance.now();
  save(mark);
  const creating = (async () => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      await create(client, `pebble-${round}-${number}`);
      await sleep(paceMillis);
    }
  })();
  creating.catch(() => stopping.abort(new Error("an object could not be created")));
  for await (const { object } of events) {
    if (object.status?.mark !== mark || !object.metadata.name.startsWith(`pebble-${round}-`)) continue;
    const took = performance.now() - saved;
    stopping.abort();
    await creating;
    await client.request({ method: "DELETE", path: resourcePath(Pebble, "default") });
    return took;
  }
  throw new Error("expected an object that the new code has marked, but the watch ended");
}

const create = (client: KubeClient, name: string): Promise<unknown> =>
  client.create(
    Pebble,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Pebble",
      metadata: { namespace: "default", name },
      spec: {},
    },
    { fieldManager: "bench" },
  );
