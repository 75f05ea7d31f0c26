/** The frame of every process: log, probes, readiness, signals, and an orderly shutdown. */
import { type Logger, pino } from "pino";
import { Registry } from "prom-client";
import type { StandaloneSettings } from "../config/config.ts";
import { redactedLine } from "../values/redact.ts";
import { startProbes } from "./http.ts";
import { returnIdleMemory } from "./idlememory.ts";
import { registerReadiness } from "./metrics.ts";
import { registerNodeMetrics } from "./nodemetrics.ts";
import { Readiness } from "./readiness.ts";
import { exitCodeOf, onStopSignals } from "./signals.ts";
import { untilReachable } from "./untilreachable.ts";

/** Retries until the attempt succeeds, and reports the problem in `/readyz` meanwhile. Throws errors that a retry cannot fix. */
export type WaitFor = <T>(problem: string, attempt: () => Promise<T>) => Promise<T>;

/** What every process works with. */
export interface Frame {
  readonly log: Logger;
  readonly registry: Registry;
  readonly readiness: Readiness;
  readonly waitFor: WaitFor;
}

/** A started process or part of one: how to stop it, and why it is not ready. */
export interface Running {
  stop(): Promise<void>;
  notReady?(): string | undefined;
}

/** A started process with connections, which close after its last answer to a probe. */
export interface RunningConnected extends Running {
  close?(): Promise<void>;
}

/** An orderly shutdown that takes longer is aborted, in milliseconds: below a pod's default grace period of 30 s. */
export const stopMillis = 9500;

/**
 * Serves probes, starts, and runs until a signal. The first signal stops the process in order; a second one, or one during the
 * start, ends it at once. `details` are logged with the first line.
 */
export async function runFrame(
  name: string,
  settings: StandaloneSettings,
  start: (frame: Frame) => Promise<RunningConnected>,
  details: object = {},
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
  log.info({ probes: probes.url, ...details }, "starting");
  const failed = new AbortController();
  const waitFor: WaitFor = (problem, attempt) => {
    const onProblem = (reason: string | undefined) => readiness.report(problem, reason);
    return untilReachable({ problem, attempt, log, signal: failed.signal, onProblem });
  };
  const running = await start({ log, registry, readiness, waitFor }).catch(async (error: unknown) => {
    failed.abort(error);
    await probes.close();
    throw error;
  });
  readiness.started(() => running.notReady?.());
  registerNodeMetrics(registry);
  const unwatch = readiness.watch(log);
  const stopReturning = returnIdleMemory((returned) => log.debug(returned, "returned idle memory"));
  const signal = await signalled;
  unwatch();
  stopReturning();
  log.info({ signal }, "stopping");
  const late = setTimeout(() => {
    log.error({ afterMillis: stopMillis }, "not stopped in time, leaving");
    process.exit(1);
  }, stopMillis);
  await running.stop();
  await probes.close();
  await running.close?.();
  clearTimeout(late);
  log.info("stopped");
  process.exitCode = stoppedBy(signal);
}

/** The log of a process: JSON lines on standard output. */
const openLog = (name: string, { logLevel, replica }: StandaloneSettings): Logger =>
  pino(
    {
      level: logLevel,
      base: { process: name, replica },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactedLine },
    },
    // Synchronous, so that the last line before a crash is written.
    pino.destination({ dest: 1, sync: true }),
  );

/** The first stop signal after the start. One during the start, or a second one, ends the process at once. */
const stopSignal = (readiness: Readiness, log: Logger): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    onStopSignals({
      first(signal) {
        if (readiness.isStarted) return resolve(signal);
        log.info({ signal }, "stopped while starting");
        process.exit(stoppedBy(signal));
      },
      again: (signal) => process.exit(exitCodeOf(signal)),
    });
  });

/** An orderly stop exits with 0 for a supervisor; Ctrl-C interrupts a command. */
const stoppedBy = (signal: NodeJS.Signals): number => (signal === "SIGINT" ? exitCodeOf(signal) : 0);
