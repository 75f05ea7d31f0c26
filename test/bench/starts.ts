/** Starts of single processes, and what all of an installation need while idle. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import hikawa from "../../functions/zundoko/hikawa.ts";
import { hookSecret } from "../harness/environment.ts";
import { pidOf, startProcess } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { createHikawa, waitForHikawas } from "./hikawas.ts";
import { idleRssOf, measure, type Pids, type Usage } from "./processes.ts";
import { program } from "./program.ts";
import { figure } from "./table.ts";

/** The figures of a round. Memory is resident memory, in MB. */
export interface StartsRun {
  /** From the start of a worker to the end of its first reconcile. Milliseconds. */
  readonly coldStart: number;
  readonly worker: number;
  /** A bridge for the kinds of one function. */
  readonly smallBridge: number;
  /** One bridge, one gateway, one worker for all built-in functions, and NATS, by role, after {@link idleSeconds}. */
  readonly all: ReadonlyMap<string, Usage>;
  readonly idleSeconds: number;
}

/** How long processes rest before they are measured, and for how long. */
const restMillis = 10_000;
/** The same for all of them: what a start leaves behind, such as compiled code, takes longer. */
const restOfAllMillis = 30_000;
const sampleMillis = 5000;
const idleSeconds = 20;
const dayMillis = 86_400_000;

/** Runs the rounds. */
export async function measureStarts(
  environment: BenchEnvironment,
  rounds: number,
  say: (line: string) => void,
): Promise<StartsRun[]> {
  const secrets = join(environment.platform.directory, "webhooks");
  await mkdir(secrets, { recursive: true });
  await writeFile(join(secrets, "github.app"), `${hookSecret}\n`);
  const runs: StartsRun[] = [];
  for (let round = 1; round <= rounds; round++) {
    await environment.clearObjects();
    await environment.clearBus();
    const starts = new Starts(environment, secrets, round);
    const smallBridge = await starts.run(["bridge", "zundoko"], (pids) => starts.memory(pids));
    const run = await starts.run(["bridge"], async (bridge) => {
      const first = await starts.firstReconcile();
      return starts.run(["gateway"], (gateway) =>
        starts.run(["worker", "all"], async (worker) => {
          const all = await starts.idle(new Map([...bridge, ...gateway, ...worker]));
          return { ...first, smallBridge, all, idleSeconds };
        }),
      );
    });
    say(`round ${round}: a worker's first reconcile ended after ${figure(run.coldStart)} ms`);
    runs.push(run);
  }
  return runs;
}

/** The processes of one round. */
class Starts {
  readonly #environment: BenchEnvironment;
  readonly #secrets: string;
  readonly #round: number;

  constructor(environment: BenchEnvironment, secrets: string, round: number) {
    this.#environment = environment;
    this.#secrets = secrets;
    this.#round = round;
  }

  /** Runs a process during `use`. */
  async run<T>([command = "", ...names]: readonly string[], use: (pids: Pids) => Promise<T>): Promise<T> {
    const environment = this.#environment;
    const { args, env } = await program();
    const role = [command, ...names].join(" ");
    const replica = `${role.replaceAll(" ", "-")}-${this.#round}`;
    const isBridge = command === "bridge";
    const child = await startProcess(environment, {
      name: replica,
      role: command === "worker" && names[0] === hikawa.name ? hikawa.name : command,
      command: process.execPath,
      args: [...args, command, ...(isBridge ? [] : names)],
      env: {
        ...env,
        DENREI_REPLICA: replica,
        DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
        DENREI_WEBHOOK_SECRETS: this.#secrets,
        // All functions in one process have one account.
        ...(names[0] === "all" && { NATS_URL: environment.platform.natsUrl }),
        ...(isBridge && names.length > 0 && { DENREI_COMPONENTS: names.join(",") }),
      },
      readyLine: /"msg":"(bridge|gateway|worker) ready"/,
    });
    try {
      return await use(new Map([[role, pidOf(child)]]));
    } finally {
      await child.stop();
    }
  }

  /** The memory of one idle process. */
  async memory(pids: Pids): Promise<number> {
    const { signal } = this.#environment;
    await sleep(restMillis, undefined, { signal });
    return Math.max(...(await idleRssOf(pids, { millis: sampleMillis, signal })).values());
  }

  /** Starts a worker for a Hikawa that waits. */
  async firstReconcile(): Promise<Pick<StartsRun, "coldStart" | "worker">> {
    const name = `first-${this.#round}`;
    const waiting = await waitForHikawas(this.#environment, [name], ({ status }) => status !== undefined);
    try {
      await createHikawa(this.#environment, name, dayMillis);
      // The bridge has just started, too.
      await sleep(restMillis, undefined, { signal: this.#environment.signal });
      const begun = performance.now();
      return await this.run(["worker", hikawa.name], async (pids) => {
        await waiting.all();
        const coldStart = performance.now() - begun;
        return { coldStart, worker: await this.memory(pids) };
      });
    } finally {
      waiting.stop();
    }
  }

  /** The usage of these processes and of NATS. */
  async idle(pids: Pids): Promise<ReadonlyMap<string, Usage>> {
    const { platform, signal } = this.#environment;
    await sleep(restOfAllMillis, undefined, { signal });
    const usage = measure(new Map([...pids, ["nats-server", pidOf(platform.nats)]]));
    await sleep(idleSeconds * 1000, undefined, { signal });
    return usage();
  }
}
