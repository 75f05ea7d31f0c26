/** The main program of a process that needs neither the bus nor a cluster: log, probes, signals, and an orderly shutdown. */
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { StandaloneSettings } from "../config/config.ts";
import { startProbes } from "./http.ts";
import { registerReadiness } from "./metrics.ts";
import { Readiness } from "./readiness.ts";
import { openLog, type Running, stopMillis, stoppedBy, stopSignal } from "./run.ts";

/** What such a process works with. */
export interface StandaloneContext {
  readonly log: Logger;
  readonly registry: Registry;
}

/** Serves probes, starts, and runs until a signal. The first signal stops the process in order, a second one at once. */
export async function runStandalone(
  name: string,
  settings: StandaloneSettings,
  start: (context: StandaloneContext) => Promise<Running>,
): Promise<void> {
  const log = openLog(name, settings);
  const readiness = new Readiness();
  const signalled = stopSignal(readiness, log);
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "unexpected error, leaving");
    process.exit(1);
  });
  const registry = new Registry();
  const notReady = () => readiness.reason();
  registerReadiness(registry, notReady);
  const probes = await startProbes({ address: settings.httpAddress, registry, notReady });
  log.info({ probes: probes.url }, "starting");
  const running = await start({ log, registry }).catch(async (error: unknown) => {
    await probes.close();
    throw error;
  });
  readiness.started(() => running.notReady?.());
  collectDefaultMetrics({ register: registry });
  const unwatch = readiness.watch(log);
  const signal = await signalled;
  unwatch();
  log.info({ signal }, "stopping");
  const late = setTimeout(() => {
    log.error({ afterMillis: stopMillis }, "not stopped in time, leaving");
    process.exit(1);
  }, stopMillis);
  await running.stop();
  await probes.close();
  clearTimeout(late);
  log.info("stopped");
  process.exitCode = stoppedBy(signal);
}
