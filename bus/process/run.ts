/** The main program of a process, which is connected to the bus and a cluster, to the bus only, or to neither. */
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import {
  type BusProcessSettings,
  ConfigError,
  type ProcessSettings,
  type StandaloneSettings,
} from "../config/config.ts";
import { type Caller, type CallObserver, type KubeClient, kubeClient } from "../kube/client.ts";
import type { KubeConnection } from "../kube/connection.ts";
import type { KubeconfigSource } from "../kube/kubeconfig.ts";
import { type Bus, type BusAddress, busAddress, connectBus } from "../nats/connect.ts";
import type { BusOptions } from "../topology.ts";
import { redacted } from "../values/redact.ts";
import { connectCluster } from "./cluster.ts";
import { watchConnection } from "./connection.ts";
import {
  type Frame,
  type Running,
  type RunningConnected,
  runFrame,
  stopMillis,
  type WaitFor,
} from "./frame.ts";
import { countCalls, registerCertificates } from "./metrics.ts";
import type { Tracing } from "./otlp/provider.ts";
import { collectorOf, startTracing } from "./tracing.ts";
import { watchEventLoop } from "./watchdog.ts";

export {
  type AccountSettings,
  accountSettings,
  type BusProcessSettings,
  busProcessSettings,
  type ProcessSettings,
  processSettings,
} from "../config/config.ts";
export type { Running } from "./frame.ts";

/** What a process works with. */
export interface StandaloneContext {
  readonly log: Logger;
  readonly registry: Registry;
}

/** What a process that connects to the bus works with. */
export interface BusProcessContext extends StandaloneContext {
  readonly bus: Bus;
  /** The address of the bus. */
  readonly address: BusAddress;
  /** Retries a part of the start until it succeeds, where parts must not start twice. */
  readonly waitFor: WaitFor;
  /** Ends the process when its event loop is blocked for AckWait, until the returned function is called. */
  watchEventLoop(): () => void;
}

/** What a process that connects to a cluster works with. */
export interface ProcessContext extends BusProcessContext {
  readonly client: KubeClient;
  /** A client on the same connection for another caller. Throws a `ConfigError` if the kubeconfig impersonates a user itself. */
  clientAs(caller: Caller): Promise<KubeClient>;
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

/** Of the time for a stop, exporting the last spans may take `flushMillis`, and the steps after it need `leaveMillis`. Milliseconds. */
const flushMillis = 2000;
const leaveMillis = 500;

/** A further connection of a process, beside the bus. */
interface Partner<P> {
  readonly given: P;
  close(): Promise<void>;
}

/**
 * Serves probes, connects to the cluster and the bus, starts, and runs until a signal, as {@link runFrame} describes. Unreachable
 * servers are retried and reported in `/readyz` (`untilreachable.ts`); errors that a retry cannot fix are thrown. Later, lost
 * connections are retried forever and reported in `/readyz`.
 */
export const runProcess = (
  name: string,
  settings: ProcessSettings,
  start: (context: ProcessContext) => Promise<Running>,
): Promise<void> =>
  runConnected(name, settings, start, async ({ waitFor, registry, log }) => {
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
): Promise<void> =>
  runConnected(name, settings, start, async () => ({ given: {}, close: async () => undefined }));

/** Runs a process that uses neither the bus nor a cluster. */
export const runStandalone = (
  name: string,
  settings: StandaloneSettings,
  start: (context: StandaloneContext) => Promise<Running>,
): Promise<void> => runFrame(name, settings, start);

async function runConnected<P>(
  name: string,
  settings: BusProcessSettings,
  start: (context: BusProcessContext & P) => Promise<Running>,
  openPartner: (frame: Frame) => Promise<Partner<P>>,
): Promise<void> {
  const collector = collectorOf(process.env);
  let spans: Awaited<ReturnType<Tracing["stop"]>> | undefined;
  async function connected(frame: Frame): Promise<RunningConnected> {
    const { log, registry, readiness, waitFor } = frame;
    registerCertificates(registry, settings);
    const address = busAddress(settings, `denrei-${name}`);
    const [partner, bus, tracing] = await Promise.all([
      openPartner(frame),
      waitFor("the bus is not reachable", () => connectBus(address)),
      startTracing(collector, { process: name, replica: settings.replica, env: process.env, log, registry }),
    ]);
    const onProblem = (reason: string | undefined) => readiness.reportConnection(reason);
    void watchConnection({ bus, address, log, onProblem });
    log.info("connected");
    const context = {
      ...{ bus, address, log, registry, waitFor },
      watchEventLoop: () => watchEventLoop(settings.ackWaitSeconds * 1000, name),
      ...partner.given,
    };
    const running = await waitFor("not started", () => start(context));
    return {
      notReady: () => bus.stuck.reason() ?? running.notReady?.(),
      async stop() {
        const leaveAt = performance.now() + stopMillis - leaveMillis;
        await running.stop();
        spans = await tracing?.stop(Math.max(0, Math.min(flushMillis, leaveAt - performance.now())));
      },
      async close() {
        await bus.nc.drain().catch(() => undefined);
        await partner.close();
      },
    };
  }
  await runFrame(name, settings, connected, { bus: redacted(settings.natsUrl) });
  // An unresponsive collector would keep the process alive.
  if (spans === "left behind") process.exit();
}

const kubeconfigOf = ({ kubeconfig, context }: ProcessSettings): KubeconfigSource => ({
  path: kubeconfig,
  context,
});
