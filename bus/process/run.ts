/** The frame of a process: log, probes, connections, signals, and an orderly end. */
import { type Logger, pino } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { BusProcessSettings, ProcessSettings } from "../config/config.ts";
import type { KubeClient } from "../kube/client.ts";
import type { KubeconfigSource } from "../kube/kubeconfig.ts";
import { type Bus, type BusAddress, busAddress, connectBus } from "../nats/connect.ts";
import type { BusOptions } from "../topology.ts";
import { redacted, redactedLine } from "../values/redact.ts";
import { connectCluster } from "./cluster.ts";
import { watchConnection } from "./connection.ts";
import { startProbes } from "./http.ts";
import { countCalls, registerProcessMetrics } from "./metrics.ts";
import type { Tracing } from "./otlp/provider.ts";
import { reach } from "./reach.ts";
import { exitCodeOf, onStopSignals } from "./signals.ts";
import { collectorOf, startTracing } from "./tracing.ts";
import { watchEventLoop } from "./watchdog.ts";

export {
  type BusProcessSettings,
  busProcessSettings,
  type ProcessSettings,
  processSettings,
} from "../config/config.ts";

/** What every process is given to work with. */
export interface BusProcessContext {
  readonly bus: Bus;
  /** How that bus is reached. */
  readonly address: BusAddress;
  readonly log: Logger;
  readonly registry: Registry;
}

/** What a process that works with a cluster is given. */
export interface ProcessContext extends BusProcessContext {
  readonly client: KubeClient;
}

/** What a process does: returns how to end it and why it may not be ready. */
export interface Running {
  stop(): Promise<void>;
  notReady?(): string | undefined;
}

/** How the bus is to be set up, from the settings. */
export const busOptionsOf = (settings: BusProcessSettings): BusOptions => ({
  replicas: settings.streamReplicas,
  ackWaitMillis: settings.ackWaitSeconds * 1000,
});

/** An orderly stop that takes longer is broken off, in milliseconds: below a pod's usual grace of 30 s. */
const stopMillis = 9500;
/** Spans that are left may take so long of it, and leave so much of it to what comes after them. Milliseconds. */
const flushMillis = 2000;
const leaveMillis = 500;

/** Tries until it works, and says meanwhile what the trouble is. */
type WaitFor = <T>(trouble: string, attempt: () => Promise<T>) => Promise<T>;

/** What a process works with beside the bus. */
interface Partner<P> {
  readonly given: P;
  close(): Promise<void>;
}

/**
 * Serves probes, connects to cluster and bus, starts, and runs until a signal asks it to end: in order at the first one, at
 * once at a second one or while it is still starting. What can not be reached at the start is waited for, and `/readyz` says
 * what it is (`reach.ts` tells what is waited for); it throws what waiting does not help against. Afterwards lost connections
 * are retried for ever and show in `/readyz`, too.
 */
export const runProcess = (
  name: string,
  settings: ProcessSettings,
  start: (context: ProcessContext) => Promise<Running>,
): Promise<void> =>
  run(name, settings, start, async (waitFor, registry, log) => {
    const observer = countCalls(registry);
    const client = await waitFor("the API server is not reachable", () =>
      connectCluster(kubeconfigOf(settings), observer),
    );
    log.info({ apiServer: client.connection.server }, "connected to the API server");
    return { given: { client }, close: () => client.connection.close() };
  });

/** The same for a process that has nothing to do with a cluster. */
export const runBusProcess = (
  name: string,
  settings: BusProcessSettings,
  start: (context: BusProcessContext) => Promise<Running>,
): Promise<void> => run(name, settings, start, async () => ({ given: {}, close: async () => undefined }));

async function run<P>(
  name: string,
  settings: BusProcessSettings,
  start: (context: BusProcessContext & P) => Promise<Running>,
  openPartner: (waitFor: WaitFor, registry: Registry, log: Logger) => Promise<Partner<P>>,
): Promise<void> {
  const collector = collectorOf(process.env);
  const log = pino(
    {
      level: settings.logLevel,
      base: { process: name, replica: settings.replica },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactedLine },
    },
    // The line before a crash is the one that is looked for.
    pino.destination({ dest: 1, sync: true }),
  );
  let running: Running | undefined;
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    onStopSignals({
      first(signal) {
        if (running !== undefined) return resolve(signal);
        log.info({ signal }, "stopped while starting");
        process.exit(stoppedBy(signal));
      },
      again: (signal) => process.exit(exitCodeOf(signal)),
    });
  });
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "unexpected error, leaving");
    process.exit(1);
  });
  const registry = new Registry();
  const troubles = new Map<string, string>();
  let bus: Bus | undefined;
  /** Why the connection that was made is gone. */
  let lost: string | undefined;
  const notReady = (): string | undefined => {
    if (troubles.size > 0) return [...troubles.values()].join("\n");
    if (running === undefined) return "starting";
    return lost ?? bus?.stuck.reason() ?? running.notReady?.();
  };
  registerProcessMetrics(registry, notReady, settings);
  const probes = await startProbes({ address: settings.httpAddress, registry, notReady });
  log.info({ probes: probes.url, bus: redacted(settings.natsUrl) }, "starting");
  const failed = new AbortController();
  const waitFor: WaitFor = (trouble, attempt) =>
    reach({
      trouble,
      attempt,
      log,
      signal: failed.signal,
      onTrouble(reason) {
        if (reason === undefined) troubles.delete(trouble);
        else troubles.set(trouble, reason);
      },
    });
  const address = busAddress(settings, `denrei-${name}`);
  let partner: Partner<P>;
  let tracing: Tracing | undefined;
  try {
    const opening = [
      openPartner(waitFor, registry, log),
      waitFor("the bus is not reachable", () => connectBus(address)),
      startTracing(collector, { process: name, replica: settings.replica, env: process.env, log, registry }),
    ] as const;
    [partner, bus, tracing] = await Promise.all(opening);
    void watchConnection({
      bus,
      address,
      log,
      onTrouble(reason) {
        lost = reason;
      },
    });
    log.info("connected");
    const context = { bus, address, log, registry, ...partner.given };
    running = await waitFor("not started", () => start(context));
  } catch (error) {
    failed.abort(error);
    await probes.close();
    throw error;
  }
  // A blocked event loop sends no sign of life either: by then its objects are in other hands.
  const unwatch = watchEventLoop(settings.ackWaitSeconds * 1000, name);
  collectDefaultMetrics({ register: registry });
  const unwatchReadiness = watchReadiness(notReady, log);
  const signal = await signalled;
  unwatchReadiness();
  log.info({ signal }, "stopping");
  const late = setTimeout(() => {
    log.error({ afterMillis: stopMillis }, "not stopped in time, leaving");
    process.exit(1);
  }, stopMillis);
  const leaveAt = performance.now() + stopMillis - leaveMillis;
  await running.stop();
  const spans = await tracing?.stop(Math.max(0, Math.min(flushMillis, leaveAt - performance.now())));
  await probes.close();
  await bus.nc.drain().catch(() => undefined);
  await partner.close();
  clearTimeout(late);
  unwatch();
  log.info("stopped");
  process.exitCode = stoppedBy(signal);
  // A collector that does not answer would be waited for.
  if (spans === "left behind") process.exit();
}

const kubeconfigOf = ({ kubeconfig, context }: ProcessSettings): KubeconfigSource => ({
  path: kubeconfig,
  context,
});

/** A supervisor that asks for an orderly end and gets it sees success; Ctrl-C ends a command before it was done. */
const stoppedBy = (signal: NodeJS.Signals): number => (signal === "SIGINT" ? exitCodeOf(signal) : 0);

const lookMillis = 1000;

/** Logs why a started process is no longer ready, once, however many retries it takes, and once that it is again. */
function watchReadiness(notReady: () => string | undefined, log: Logger): () => void {
  let told: string | undefined;
  const timer = setInterval(() => {
    const reason = notReady();
    if (reason !== undefined && reason !== told) log.error(reason);
    if (reason === undefined && told !== undefined) log.info("ready again");
    told = reason;
  }, lookMillis);
  timer.unref();
  return () => clearInterval(timer);
}
