/** A worker process: runs functions against one cluster. Its replicas are interchangeable. */
import { setImmediate as turn } from "node:timers/promises";
import type { Registry } from "prom-client";
import { activityReporter } from "../activity/reporter.ts";
import { isDebugged } from "../config/debugger.ts";
import type { KubeClient } from "../kube/client.ts";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { BusAddress } from "../nats/connect.ts";
import { accountOf, accountUser } from "../process/accounts.ts";
import { startProcessClock } from "../process/clock.ts";
import type { ProcessContext } from "../process/run.ts";
import { consumers, workStream } from "../subjects.ts";
import { ensureFunctions } from "../topology.ts";
import { shareOrigins } from "../tracing/origins.ts";
import { type ReconcileFunction, subscriptionsOf } from "./function.ts";
import { FunctionWorker, type FunctionWorkerOptions } from "./functionworker.ts";
import { debuggedWarning, type Keeper, keeperGone, startKeeper } from "./keeper.ts";
import { workerMetrics } from "./metrics.ts";
import { missingRight } from "./missingrights.ts";
import { keepOwnership } from "./ownership.ts";

/** Options of a worker. */
export interface WorkerOptions extends FunctionWorkerOptions {
  /** The address of the bus: under a debugger, a worker uses it to keep its tickets while it is stopped. */
  readonly address?: BusAddress;
  readonly functions: readonly ReconcileFunction[];
  readonly registry: Registry;
  /** Ends the process when a function blocks its event loop. Default: nothing does. */
  readonly watchEventLoop?: ProcessContext["watchEventLoop"];
  /** Opens a client for a function. Default: all functions share `client`. */
  readonly clientAs?: ProcessContext["clientAs"];
  /** Namespace of the service accounts to impersonate. Default: the functions have the rights of the process. */
  readonly impersonateNamespace?: string | undefined;
}

/** A running worker. */
export interface Worker {
  /** The consumer that the bus has refused to serve for some seconds, and why; undefined while all are served. */
  notReady(): string | undefined;
  /** Stops pulling, lets running reconciles finish, and hands back those that take too long. */
  stop(): Promise<void>;
}

/**
 * Starts a worker; resolves when it is ready to take requests. Throws a `TopologyError` if the worker may not create streams and
 * consumers, and the bridge has not created them yet.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { bus, functions, cluster } = options;
  await ensureFunctions(bus, options.busOptions, subscriptionsOf(functions, cluster));
  const ending = new AbortController();
  const clock = await clockOf(options, ending.signal);
  const clients = await Promise.all(functions.map((fn) => clientOf(fn, options)));
  const { ackWaitMillis } = options.busOptions;
  const ownership = keepOwnership(bus.nc, ackWaitMillis, await keeperOf(options));
  // From here on nothing fails: a start that is retried would register its metrics twice.
  const metrics = workerMetrics(options.registry);
  const [first] = functions;
  const unshare = first && shareOrigins(bus.nc, { fn: first.name, cluster });
  const report = activityReporter(bus.nc);
  const running = functions.map(
    (fn, at) =>
      new FunctionWorker(
        fn,
        { ...options, client: clients[at] ?? options.client },
        { metrics, ownership, report, clock },
      ),
  );
  // Starting a thread takes milliseconds: the first pull requests leave before.
  await turn();
  // A blocked event loop renews no ownership either: its objects go to other workers meanwhile.
  const unwatch = options.watchEventLoop?.();
  options.log.info({ functions: functions.map((fn) => fn.name), cluster }, "worker ready");
  return {
    notReady: () => running.map((fn) => fn.notReady()).find((reason) => reason !== undefined),
    async stop() {
      await Promise.all(running.map((fn) => fn.stop()));
      ending.abort();
      ownership.stop();
      unshare?.();
      unwatch?.();
    },
  };
}

/** The client of a function, with its own rights where the process impersonates. Errors name the entry that is missing. */
async function clientOf(fn: ReconcileFunction, options: WorkerOptions): Promise<KubeClient> {
  const { client, clientAs, impersonateNamespace } = options;
  if (clientAs === undefined) return client;
  const place = impersonateNamespace === undefined ? "cluster" : "local";
  return clientAs({
    advise: (denial) => missingRight(fn, denial, place),
    ...(impersonateNamespace && { user: accountUser(accountOf(fn.name), impersonateNamespace) }),
  });
}

async function keeperOf({ address, busOptions, log }: WorkerOptions): Promise<Keeper | undefined> {
  if (!isDebugged() || address === undefined) return undefined;
  log.warn(debuggedWarning);
  return startKeeper(address, busOptions.ackWaitMillis, (error) => log.error({ err: error }, keeperGone));
}

/** Reads the time from any consumer of this worker. */
async function clockOf(
  { bus, functions, cluster, log, registry }: WorkerOptions,
  signal: AbortSignal,
): Promise<BusClock> {
  const [fn] = functions;
  if (fn === undefined) return machineClock;
  const consumer = consumers.worker({ fn: fn.name, cluster });
  return startProcessClock({ bus, signal, consumer, stream: workStream(fn.name), log, registry });
}
