/** The bus runs out of space while objects change. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsStorage } from "../../../deploy/local/index.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import type { OwnTestEnvironment, TestEnvironment } from "../../harness/environment.ts";
import type { Outcome, Trial } from "../scenario.ts";
import {
  errorsOf,
  mentions,
  probePath,
  put,
  settled,
  startProbeEnvironment,
  untilReadiness,
} from "./outage.ts";

const mebibyte = 2 ** 20;
const roomBytes = 6 * mebibyte;
const bulkBytes = 200_000;

/** The storage limit that {@link limitReached} reaches. */
export const limited: NatsStorage = { maxFileBytes: roomBytes };

/** JetStream's own limit is reached, and raised by a reload without a restart. Leaves no objects behind. */
export async function limitReached(
  trial: Trial,
  environment: OwnTestEnvironment,
  objects: number,
  workers: number,
): Promise<Outcome> {
  const { nats } = environment.platform;
  const outcome = await fill(
    trial,
    environment,
    { objects, workers, what: "JetStream limit reached" },
    async () => {
      await nats.configure({ maxFileBytes: 1024 * mebibyte });
      process.kill(nats.pid ?? Number.NaN, "SIGHUP");
    },
  );
  for (const { metadata } of await environment.list(Probe))
    await environment.client.delete(Probe, metadata, {});
  return outcome;
}

/** The disk itself is full: `ENOSPC`. Undefined if this process may not mount a file system. */
export async function diskFull(trial: Trial, objects: number): Promise<Outcome | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "test-disk-"));
  const mount = (...options: string[]) => execFileSync("mount", [...options, folder], { stdio: "pipe" });
  try {
    mount("-t", "tmpfs", "-o", `size=${roomBytes + 4 * mebibyte}`, "tmpfs");
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  trial.defer(() => {
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  // More than the disk has, so that only the disk limits it.
  const environment = await startProbeEnvironment(trial, { folder, maxFileBytes: 1024 * mebibyte });
  const what = "disk full (ENOSPC)";
  const outcome = await fill(trial, environment, { objects, workers: 2, what }, async () => {
    mount("-o", `remount,size=${256 * mebibyte}`);
    // NATS keeps a stream's write error until it is restarted.
    await environment.platform.nats.stop();
    await environment.platform.nats.start();
  });
  await environment.stop();
  return outcome;
}

/** The load that fills the bus. */
interface Filling {
  readonly objects: number;
  readonly workers: number;
  readonly what: string;
}

async function fill(
  trial: Trial,
  environment: TestEnvironment,
  { objects, workers: count, what }: Filling,
  makeRoom: () => Promise<void>,
): Promise<Outcome> {
  const env = { DENREI_LOG_LEVEL: "info" };
  const [bridge, ...workers] = await Promise.all([
    environment.bridge("bridge-1", { args: [probePath], env }),
    ...Array.from({ length: count }, (_, at) => environment.worker(`worker-${at + 1}`, [probePath], { env })),
  ]);
  const desired = new Map<string, number>();
  const change = async (name: string, value: number, bulk: number): Promise<void> => {
    await put(environment, name, value, bulk);
    desired.set(name, value);
  };
  for (let i = 0; i < objects; i++) await change(`big-${i}`, i, bulkBytes);
  const full = await untilReadiness(bridge, ({ status }) => status === 503);
  const idle = await Promise.all(workers.map((worker) => worker.probe("/readyz")));
  trial.say(`${what}: ${full.text}`);
  const alive = await bridge.probe("/healthz");
  // Meanwhile objects are changed, deleted, and created.
  for (let i = 0; i < objects; i += 3) {
    const name = `big-${Math.floor(trial.next() * objects)}`;
    if (trial.next() < 0.3 && desired.delete(name))
      await environment.client.delete(Probe, { namespace: "default", name }, {});
    else await change(name, 1000 + i, bulkBytes);
    await change(`small-${i}`, i, 10);
  }
  await makeRoom();
  trial.say(`${what}: space is available again`);
  const begun = performance.now();
  await untilReadiness(bridge, ({ status }) => status === 200);
  const readySeconds = (performance.now() - begun) / 1000;
  const checks = await settled(environment, what, desired);
  const settledSeconds = (performance.now() - begun) / 1000;
  const errors = errorsOf(bridge).map(({ msg }) => String(msg));
  await Promise.all([bridge, ...workers].map((replica) => replica.stop()));
  return {
    injected: [
      `${what}: ${objects} objects of ${Math.round(bulkBytes / 1000)} kB for ${roomBytes / mebibyte} MiB`,
    ],
    checks: [
      mentions(`${what}: bridge readiness`, "the bus does not store messages", full.text),
      mentions(
        `${what}: logged error`,
        "Check the NATS servers' logs, their free disk space",
        errors.join("; "),
      ),
      mentions(`${what}: bridge liveness`, "ok", alive.text),
      ...checks,
    ],
    figures: [
      {
        what: `${what}: workers not ready`,
        found: `${idle.filter(({ status }) => status !== 200).length} of ${idle.length}`,
      },
      {
        what: `${what}: from free space to ready; to all reconciled`,
        found: `${readySeconds.toFixed(1)} s; ${settledSeconds.toFixed(1)} s`,
      },
    ],
  };
}
