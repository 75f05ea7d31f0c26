/** Our side: one bridge, three workers, and the bus. */
import { setTimeout as sleep } from "node:timers/promises";
import { functionStatus, kindStatuses } from "../../bus/inspect/status.ts";
import { consumers, streams } from "../../bus/subjects.ts";
import { type ReconcileFunction, subscriptionOf } from "../../bus/worker/function.ts";
import hikawa from "../../functions/zundoko/hikawa.ts";
import { type Contender, pidOf, type Running, startProcess } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { collectGarbage, profilerEnv, profilerSocket } from "./profiler/profiler.ts";
import { program, programIn } from "./program.ts";

const workers = 3;
const cluster = "default";
const settlePollMillis = 200;
/** Polls in a row that must be quiet: work moving from one process to the next can be missed by a single poll. */
const quietPolls = 3;
const settleDeadlineMillis = 300_000;

/** Our running processes. */
export interface DenreiRunning extends Running {
  /** Profiler sockets of the Node processes by role; empty without a profiler. */
  readonly profilers: ReadonlyMap<string, string>;
}

/** How to run our side. */
export interface DenreiOptions {
  /** With a profiler, its processes can be profiled while they run. */
  readonly profiler?: "profiler" | "no profiler";
  /** A checkout of another commit, with its packages installed. */
  readonly before?: string;
}

/** The platform with the Hikawa function. */
export function denrei(
  environment: BenchEnvironment,
  { profiler = "no profiler", before }: DenreiOptions = {},
) {
  const { directory } = environment.platform;
  const side = before === undefined ? "denrei" : "before";
  return {
    side,
    async start(label): Promise<DenreiRunning> {
      const bundle = await (before === undefined ? program() : programIn(before));
      const start = (role: string) => {
        const isBridge = role === "bridge";
        const name = `${role}-${side}-${label}`;
        return startProcess(environment, {
          name,
          role: isBridge ? "bridge" : hikawa.name,
          command: process.execPath,
          cwd: before,
          args: [...bundle.args, ...(isBridge ? ["bridge"] : ["worker", hikawa.name])],
          env: {
            ...bundle.env,
            DENREI_REPLICA: name,
            ...(profiler === "profiler" && profilerEnv(directory)),
          },
          readyLine: /"msg":"(bridge|worker) ready"/,
        });
      };
      const roles = ["bridge", ...Array.from({ length: workers }, (_, at) => `worker-${at + 1}`)];
      const children = await Promise.all(roles.map(start));
      const own = children.map((child, at) => [roles[at] ?? "", pidOf(child)] as const);
      const pids = new Map([...own, ["nats-server", pidOf(environment.platform.nats)] as const]);
      const profilers = new Map(
        profiler === "profiler" ? own.map(([role, pid]) => [role, profilerSocket(directory, pid)]) : [],
      );
      return {
        side,
        pids,
        profilers,
        settled: () => settled(environment, `bridge-${side}-${label}`),
        async collectGarbage() {
          await Promise.all([...profilers.values()].map(collectGarbage));
          return [...profilers.keys()];
        },
        async stop() {
          await Promise.all(children.map((child) => child.stop()));
        },
      };
    },
  } satisfies Contender;
}

/** Waits until the bridge watches every kind of the function and no work is pending. */
async function settled(environment: BenchEnvironment, bridge: string): Promise<void> {
  const until = performance.now() + settleDeadlineMillis;
  for (let quiet = 0; quiet < quietPolls; ) {
    const busy = await reasons(environment, bridge);
    quiet = busy.length === 0 ? quiet + 1 : 0;
    if (performance.now() > until)
      throw new Error(`expected the platform to become quiet, found ${busy.join("; ")}`);
    await sleep(settlePollMillis, undefined, { signal: environment.signal });
  }
}

async function reasons({ bus }: BenchEnvironment, bridge: string): Promise<string[]> {
  const [kinds, router, status] = await Promise.all([
    kindStatuses(bus, [hikawa as ReconcileFunction], cluster),
    bus.jsm.consumers.info(
      streams.objects,
      consumers.router(subscriptionOf(hikawa as ReconcileFunction, cluster)),
    ),
    functionStatus(bus, hikawa as ReconcileFunction, cluster),
  ]);
  const counts = {
    "events to route": router.num_pending + router.num_ack_pending,
    "requests pending": status.pending ?? 0,
    "requests in flight": status.inFlight ?? 0,
    "marks parked": status.parked ?? 0,
  };
  return [
    ...kinds
      .filter(({ bridges: [its] }) => its?.state !== "watching" || its.holder !== bridge)
      .map((kind) => `${kind.kind} not watched`),
    ...Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} ${what}`),
  ];
}
