/** A bus without a bridge and an API server: NATS servers, the streams of some functions, and processes that host their replicas. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { consumers, streams, timersStream, workStream } from "../../../bus/subjects.ts";
import { ensureTopology } from "../../../bus/topology.ts";
import { startNatsServers } from "../../harness/natsservers.ts";
import { pidOf, startProcess } from "../contender.ts";
import { type Accounts, inAccounts } from "../environment.ts";
import type { Pids } from "../processes.ts";
import { busOptions, commandedRole } from "../queueplan.ts";
import {
  type Command,
  commandSubject,
  commandSubjects,
  type Host,
  hostVariable,
  subscriptionFor,
} from "./hostplan.ts";
import type { BenchMeasuring } from "./measuring.ts";

/** What to set up. */
export interface ScaleBusOptions {
  /** Servers of the bus, and copies of each stream. */
  readonly servers: 1 | 3;
  readonly functions: readonly string[];
  readonly accounts: Accounts;
}

/** A running host. */
export interface RunningHost {
  readonly fn: string;
  /** Sends a command, and resolves with its answer. */
  ask<Answer>(command: Command): Promise<Answer>;
}

/** The bus. */
export interface ScaleBus {
  readonly bus: Bus;
  readonly measuring: BenchMeasuring;
  readonly functions: readonly string[];
  /** The servers (`nats-…`), the hosts (`host-…`), and this process (`benchmark`). */
  readonly pids: Pids;
  readonly hosts: readonly RunningHost[];
  /** Starts a host; resolves when all of its replicas are ready. */
  startHost(host: Pick<Host, "fn" | "name" | "replicas">): Promise<RunningHost>;
  /** Resolves when no event is left to route, and no ticket, mark, or timer is left. */
  drained(): Promise<void>;
}

const program = fileURLToPath(new URL("./host.ts", import.meta.url));
const commandMillis = 600_000;
const drainMillis = 300_000;
const pollMillis = 100;

/** Starts the servers, and creates the streams of the functions. */
export async function openScaleBus(
  measuring: BenchMeasuring,
  { servers: copies, functions, accounts }: ScaleBusOptions,
): Promise<ScaleBus> {
  const { signal, fail, defer } = measuring;
  const subscriptions = functions.map(subscriptionFor);
  const roles = subscriptions.map((one) => commandedRole(one, commandSubjects(one.scope.fn)));
  const { processes, servers, natsUrl, natsUrlFor } = await startNatsServers(
    copies,
    signal,
    inAccounts(accounts, roles),
  );
  defer(() => processes.stop());
  const bus = await connectBus({ url: natsUrl, name: "denrei-bench", timeoutMillis: 30_000 });
  defer(() => bus.nc.close());
  // One after another: a cluster elects a leader for each stream and consumer, which takes longer than a request may.
  for (const subscription of subscriptions)
    await ensureTopology(bus, { ...busOptions, replicas: copies }, [subscription]);
  const pids = new Map<string, number>([
    ...servers.map((server, at) => [`nats-${at + 1}`, pidOf(server)] as const),
    ["benchmark", process.pid],
  ]);
  const hosts: RunningHost[] = [];
  const platform = {
    natsUrlFor,
    spawn: (...args: Parameters<typeof processes.spawn>) => processes.spawn(...args),
  };

  async function startHost(started: Pick<Host, "fn" | "name" | "replicas">): Promise<RunningHost> {
    const host: Host = { ...started, copies };
    const { fn, name } = host;
    const child = await startProcess(
      { platform, signal, fail },
      {
        name,
        role: fn,
        command: process.execPath,
        args: [program],
        env: { [hostVariable]: JSON.stringify(host) },
        readyLine: /^host ready$/,
      },
    );
    // Each function has its own account, which no other user reaches.
    const commands = await connectBus({ url: natsUrlFor(fn), name: "denrei-bench", timeoutMillis: 30_000 });
    defer(() => commands.nc.close());
    const running: RunningHost = {
      fn,
      async ask<Answer>(command: Command) {
        const asked = commands.nc.request(commandSubject(host), JSON.stringify(command), {
          timeout: commandMillis,
        });
        return (await asked).json<Answer>();
      },
    };
    pids.set(name, pidOf(child));
    hosts.push(running);
    return running;
  }

  return {
    bus,
    measuring,
    functions,
    pids,
    hosts,
    startHost,
    drained: () => drained(bus, functions, signal),
  };
}

async function drained(bus: Bus, functions: readonly string[], signal: AbortSignal): Promise<void> {
  let left: object[] = [];
  for (const until = performance.now() + drainMillis; performance.now() < until; ) {
    left = (await Promise.all(functions.map((fn) => leftOf(bus, fn)))).filter(
      ({ events, tickets, timers }) => events + tickets + timers > 0,
    );
    if (left.length === 0) return;
    await sleep(pollMillis, undefined, { signal });
  }
  throw new Error(
    `expected no work to be left on the bus after ${drainMillis} ms, found ${JSON.stringify(left)}`,
  );
}

/** A message moves to the work stream before it leaves the other streams, so these are read first. */
async function leftOf({ jsm }: Bus, fn: string) {
  const router = await jsm.consumers.info(streams.objects, consumers.router(subscriptionFor(fn)));
  const messages = async (stream: string) => (await jsm.streams.info(stream)).state.messages;
  const timers = await messages(timersStream(fn));
  return {
    fn,
    events: router.num_pending + router.num_ack_pending,
    timers,
    tickets: await messages(workStream(fn)),
  };
}
