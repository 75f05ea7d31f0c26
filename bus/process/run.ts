/** The main program of a process: log, probes, connections, signals, and an orderly shutdown. */
import { type Logger, pino } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type BusProcessSettings, ConfigError, type ProcessSettings } from "../config/config.ts";
import { type Caller, type CallObserver, type KubeClient, kubeClient } from "../kube/client.ts";
import type { KubeConnection } from "../kube/connection.ts";
import type { KubeconfigSource } from "../kube/kubeconfig.ts";
import { type Bus, type BusAddress, busAddress, connectBus } from "../nats/connect.ts";
import type { BusOptions } from "../topology.ts";
import { redacted, redactedLine } from "../values/redact.ts";
import { connectCluster } from "./cluster.ts";
import { watchConnection } from "./connection.ts";
import { type ProbeServer, startProbes } from "./http.ts";
import { countCalls, registerProcessMetrics } from "./metrics.ts";
import type { Tracing } from "./otlp/provider.ts";
import { Readiness } from "./readiness.ts";
import { exitCodeOf, onStopSignals } from "./signals.ts";
import { collectorOf, startTracing } from "./tracing.ts";
import { untilReachable } from "./untilreachable.ts";
import { watchEventLoop } from "./watchdog.ts";

export {
  type AccountSettings,
  accountSettings,
  type BusProcessSettings,
  busProcessSettings,
  type ProcessSettings,
  processSettings,
} from "../config/config.ts";

/** What every process works with. */
export interface BusProcessContext {
  readonly bus: Bus;
  /** The address of the bus. */
  readonly address: BusAddress;
  readonly log: Logger;
  readonly registry: Registry;
}

/** What a process that connects to a cluster works with. */
export interface ProcessContext extends BusProcessContext {
  readonly client: KubeClient;
  /** A client on the same connection for another caller. Throws a `ConfigError` if the kubeconfig impersonates a user itself. */
  clientAs(caller: Caller): Promise<KubeClient>;
}

/** A started process: how to stop it, and why it is not ready. */
export interface Running {
  stop(): Promise<void>;
  notReady?(): string | undefined;
}

/** Options of the bus from the settings, for functions of a project. */
export const busOptionsOf = (
  settings: BusProcessSettings,
  project?: { readonly name: string },
): BusOptions => ({
  replicas: settings.streamReplicas,
  ackWaitMillis: settings.ackWaitSeconds * 1000,
  ...(project && { project: project.name }),
});

/** An orderly shutdown that takes longer is aborted, in milliseconds: below a pod's default grace period of 30 s. */
export const stopMillis = 9500;
/** Of that time, exporting the last spans may take `flushMillis`, and the steps after it need `leaveMillis`. Milliseconds. */
const flushMillis = 2000;
const leaveMillis = 500;

/** Retries until the attempt succeeds, and reports the error meanwhile. */
type WaitFor = <T>(problem: string, attempt: () => Promise<T>) => Promise<T>;

/** A further connection of a process, beside the bus. */
interface Partner<P> {
  readonly given: P;
  close(): Promise<void>;
}

/** The parts that a started process stops in the end. */
interface Started {
  readonly running: Running;
  readonly tracing: Tracing | undefined;
  readonly probes: ProbeServer;
  readonly bus: Bus;
  readonly partner: Pick<Partner<unknown>, "close">;
}

/**
 * Serves probes, connects to the cluster and the bus, starts, and runs until a signal. The first signal stops the process in
 * order; a second one, or one during the start, ends it at once. Unreachable servers are retried and reported in `/readyz`
 * (`untilreachable.ts`); errors that a retry cannot fix are thrown. Later, lost connections are retried forever and reported in `/readyz`.
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
    const { connection } = client;
    return { given: { client, clientAs: clientsOn(connection, observer) }, close: () => connection.close() };
  });

/** Impersonation cannot be nested: the headers of one user would replace some of the other's. */
const clientsOn =
  (connection: KubeConnection, observer: CallObserver): ProcessContext["clientAs"] =>
  async (caller) => {
    const isImpersonating = "impersonate-user" in (await connection.headers());
    if (caller.user !== undefined && isImpersonating)
      throw new ConfigError(
        `the user of the context "${connection.context}" impersonates another one (\`as\` in the kubeconfig), so it cannot ` +
          `impersonate ${caller.user} as well`,
      );
    return kubeClient(connection, observer, caller);
  };

/** Runs a process that does not use a cluster. */
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
  const log = openLog(name, settings);
  const readiness = new Readiness();
  const signalled = stopSignal(readiness, log);
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "unexpected error, leaving");
    process.exit(1);
  });
  const registry = new Registry();
  const notReady = () => readiness.reason();
  registerProcessMetrics(registry, notReady, settings);
  const probes = await startProbes({ address: settings.httpAddress, registry, notReady });
  log.info({ probes: probes.url, bus: redacted(settings.natsUrl) }, "starting");
  const failed = new AbortController();
  const waitFor: WaitFor = (problem, attempt) => {
    const onProblem = (reason: string | undefined) => readiness.report(problem, reason);
    return untilReachable({ problem, attempt, log, signal: failed.signal, onProblem });
  };
  const address = busAddress(settings, `denrei-${name}`);
  let started: Started;
  try {
    const [partner, bus, tracing] = await Promise.all([
      openPartner(waitFor, registry, log),
      waitFor("the bus is not reachable", () => connectBus(address)),
      startTracing(collector, { process: name, replica: settings.replica, env: process.env, log, registry }),
    ]);
    const onProblem = (reason: string | undefined) => readiness.reportConnection(reason);
    void watchConnection({ bus, address, log, onProblem });
    log.info("connected");
    const context = { bus, address, log, registry, ...partner.given };
    const running = await waitFor("not started", () => start(context));
    readiness.started(() => bus.stuck.reason() ?? running.notReady?.());
    started = { running, tracing, probes, bus, partner };
  } catch (error) {
    failed.abort(error);
    await probes.close();
    throw error;
  }
  // A blocked event loop renews no ownership either: its objects go to other workers meanwhile.
  const unwatch = watchEventLoop(settings.ackWaitSeconds * 1000, name);
  collectDefaultMetrics({ register: registry });
  const unwatchReadiness = readiness.watch(log);
  const signal = await signalled;
  unwatchReadiness();
  log.info({ signal }, "stopping");
  const spans = await stop(started, log);
  unwatch();
  log.info("stopped");
  process.exitCode = stoppedBy(signal);
  // An unresponsive collector would keep the process alive.
  if (spans === "left behind") process.exit();
}

/** The log of a process: JSON lines on standard output. */
export const openLog = (
  name: string,
  { logLevel, replica }: Pick<BusProcessSettings, "logLevel" | "replica">,
): Logger =>
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
export const stopSignal = (readiness: Readiness, log: Logger): Promise<NodeJS.Signals> =>
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

/** Stops in order, or ends the process after {@link stopMillis}. Returns whether spans are still being exported. */
async function stop(
  { running, tracing, probes, bus, partner }: Started,
  log: Logger,
): Promise<"exported" | "left behind" | undefined> {
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
  return spans;
}

const kubeconfigOf = ({ kubeconfig, context }: ProcessSettings): KubeconfigSource => ({
  path: kubeconfig,
  context,
});

/** An orderly stop exits with 0 for a supervisor; Ctrl-C interrupts a command. */
export const stoppedBy = (signal: NodeJS.Signals): number => (signal === "SIGINT" ? exitCodeOf(signal) : 0);
