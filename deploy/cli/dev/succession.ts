/**
 * One state of the code after another. The workers with new code start beside those with the old, which are told to stop when
 * the new ones take requests: code that does not even load takes nobody's place, and there is always somebody who works.
 */

import type { Environment } from "../../environment/environment.ts";
import { duration } from "../../environment/progress.ts";
import { describeExit, type Exit } from "../../local/index.ts";
import { crdDigestVariable, type Declared } from "./protocol.ts";
import type { Receiver } from "./receiver.ts";
import type { Relay } from "./relay.ts";
import { CodeError, prepareReplica, type Replica } from "./replicas.ts";
import type { Screen } from "./screen.ts";
import { loadErrorIn, placeText } from "./source.ts";

/** What runs where. */
export interface SuccessionOptions {
  readonly environment: Environment;
  readonly functions: readonly string[];
  readonly workers: number;
  /** Where debuggers find the one worker. */
  readonly inspector: Relay | undefined;
  /** Where webhooks are received, if they are. */
  readonly receiver: Receiver | undefined;
  readonly root: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** The code that runs, and its successors. */
export interface Succession {
  /** Starts the code as it is now in place of what runs. Resolves when that has come to something, good or bad. */
  renew(): Promise<void>;
  /** What the running code has declared; nothing before there was some that could begin. */
  readonly declared: Declared | undefined;
}

/** Replicas of one state of the code. */
interface Code {
  readonly number: number;
  readonly workers: readonly Replica[];
  readonly gateways: readonly Replica[];
}

/** A bridge, and the digest of all that it does. */
interface Bridge {
  readonly replica: Replica;
  readonly digest: string;
}

const replicasOf = ({ workers, gateways }: Code): readonly Replica[] => [...workers, ...gateways];

/** A worker that dies again and again is started at this pace. Milliseconds. */
const revivePauses = [0, 1000, 3000, 10_000];

/** Opens the succession; nothing runs before the first `renew`. */
export function succession({
  environment,
  functions,
  workers,
  inspector,
  receiver,
  root,
  screen,
  signal,
}: SuccessionOptions): Succession {
  let current: Code | undefined;
  let bridge: Bridge | undefined;
  let numbered = 0;
  let bridges = 0;
  let starting: readonly Replica[] = [];
  /** Digest of the CRDs that are certainly installed; undefined since somebody began who may have installed others. */
  let installed: string | undefined;
  /** Renewals follow each other; of those that wait, the last one is enough. */
  let last: Promise<void> = Promise.resolve();
  let wanted = 0;
  /** Whether what is saved is, or may be, other code than that which runs. */
  let behind = false;

  const names = functions.length === 0 ? ["all"] : functions;
  const prepare = (role: "bridge" | "worker" | "gateway", name: string): Replica =>
    prepareReplica({
      environment,
      role,
      name: `${name}${environment.suffix}`,
      functions: role === "gateway" ? [] : names,
      // Any port: debuggers come by the one that stays.
      nodeArgs: role === "worker" && inspector !== undefined ? ["--inspect=127.0.0.1:0"] : [],
      env: () => ({ ...(role === "gateway" && receiver?.env), [crdDigestVariable]: installed }),
      onRecord: (record) => screen.record(record),
      // A bridge loads the same code, and runs none of it.
      onPrinted: role === "worker" ? (line) => screen.printed(name + environment.suffix, line) : undefined,
      onDeath: (exit, replica) => void revive(replica, exit),
    });

  /** Starts again what has died, as long as it is not replaced. */
  async function revive(replica: Replica, exit: Exit): Promise<void> {
    const isWanted = () =>
      !signal.aborted && ((current && replicasOf(current).includes(replica)) || bridge?.replica === replica);
    // One of new code takes nobody's place then, which is told there.
    if (!isWanted()) return;
    const { name } = replica.child;
    screen.tell(
      `${name} ${describeExit(exit)}; starting it again${behind ? ", with the code as it is saved" : ""}`,
      "red",
    );
    screen.more(replica.output);
    for (let tries = 0; isWanted(); tries++) {
      await new Promise((resolve) => setTimeout(resolve, revivePauses[tries] ?? 10_000));
      if (!isWanted()) return;
      try {
        // What is saved may be other code than that which ran.
        const started = replica.start();
        installed = undefined;
        await started;
        leadTo(replica);
        return screen.tell(`${name} runs again`);
      } catch (error) {
        if (isWanted()) complain(error, `${name} does not start`, "Tried again until what is saved starts.");
      }
    }
  }

  /** Who has an address that stays is found there from now on. */
  function leadTo(replica: Replica): void {
    if (current?.workers[0] === replica) inspector?.lead(replica.inspector);
    if (current?.gateways[0] === replica) receiver?.relay.lead(replica.url);
  }

  function complain(error: unknown, what: string, rest: string): void {
    if (!(error instanceof CodeError)) throw error;
    const { place, lines } = loadErrorIn(error.output, root);
    screen.tell(`${what}${place === undefined ? "" : `: ${placeText(place)}`}. ${rest}`, "red");
    screen.more(lines.length > 0 ? lines : [error.message], []);
  }

  function assertNewest(): void {
    if (wanted > 1) throw new Error("expected the newest code, but something was saved meanwhile");
  }

  /** Workers and gateways, and then a bridge if it is to do something else than the one that runs. */
  async function start(next: Code): Promise<Bridge> {
    const starts = replicasOf(next).map((replica) => replica.start());
    installed = undefined;
    await Promise.all(starts);
    assertNewest();
    const declared = next.workers[0]?.declared;
    if (declared === undefined) throw new Error("expected a worker to say what it declares");
    if (bridge?.digest === declared.bridge) return bridge;
    const replica = prepare("bridge", `bridge-${++bridges}`);
    starting = [...starting, replica];
    await replica.start();
    assertNewest();
    return { replica, digest: declared.bridge };
  }

  async function succeed(since: number): Promise<void> {
    const number = numbered + 1;
    const next: Code = {
      number,
      workers: Array.from({ length: workers }, (_, at) =>
        prepare("worker", `worker-${at + 1}-code-${number}`),
      ),
      gateways: receiver === undefined ? [] : [prepare("gateway", `gateway-1-code-${number}`)],
    };
    const before = { code: current, bridge };
    starting = replicasOf(next);
    try {
      const nextBridge = await start(next);
      const dead = starting.find(({ child }) => child.pid === undefined);
      if (dead !== undefined)
        throw new CodeError(`expected ${dead.child.name} to run, but it ended after its start`, dead.output);
      // All of it at once: whoever dies from here on is started again.
      [current, bridge, numbered, starting, behind] = [next, nextBridge, number, [], false];
    } catch (error) {
      const discarded = starting;
      starting = [];
      await Promise.all(discarded.map((replica) => replica.child.stop()));
      if (signal.aborted || wanted > 1) return;
      const rest = current === undefined ? "Save it again to go on." : `Code ${current.number} goes on.`;
      return complain(error, "The new code does not start", rest);
    }
    const [first] = next.workers;
    const crds = first?.declared?.crds;
    installed = crds;
    for (const replica of replicasOf(next)) leadTo(replica);
    if (before.bridge?.replica !== bridge.replica) await before.bridge?.replica.retire();
    if (before.code === undefined) return;
    await Promise.all(replicasOf(before.code).map((replica) => replica.retire()));
    first?.askForAll();
    screen.tell(`Code ${number} runs, ${duration(performance.now() - since)} after the save.`, "green");
    if (crds !== before.code.workers[0]?.declared?.crds)
      screen.tell("The CRDs here follow the code. `npm run generate` writes those in crds/.", "yellow");
  }

  return {
    get declared() {
      return current?.workers[0]?.declared;
    },
    async renew() {
      const since = performance.now();
      wanted++;
      behind = true;
      // What is on its way is out of date already.
      for (const replica of starting) void replica.child.stop();
      last = last.then(async () => {
        if (wanted === 1 && !signal.aborted) await succeed(since);
        wanted--;
      });
      return last;
    },
  };
}
