/**
 * One state of the code after another. The workers with new code start beside those with the old, which are told to stop when
 * the new ones take requests: code that does not even load takes nobody's place, and there is always somebody who works.
 */
import { describeExit, type Exit } from "../../local/index.ts";
import { duration } from "../demo/progress.ts";
import type { Ground } from "./ground.ts";
import type { Receiver } from "./receiver.ts";
import type { Relay } from "./relay.ts";
import { CodeError, prepareReplica, type Replica } from "./replicas.ts";
import type { Screen } from "./screen.ts";
import { loadErrorIn, placeText } from "./source.ts";
import { crdDigestVariable, type Declared } from "./told.ts";

/** What runs where. */
export interface SuccessionOptions {
  readonly ground: Ground;
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

const replicasOf = ({ workers, gateways }: Code): readonly Replica[] => [...workers, ...gateways];

/** A worker that dies again and again is started at this pace. Milliseconds. */
const revivePauses = [0, 1000, 3000, 10_000];

/** Opens the succession; nothing runs before the first `renew`. */
export function succession({
  ground,
  functions,
  workers,
  inspector,
  receiver,
  root,
  screen,
  signal,
}: SuccessionOptions): Succession {
  let current: Code | undefined;
  let bridge: { readonly replica: Replica; readonly digest: string } | undefined;
  let numbered = 0;
  let bridges = 0;
  let starting: readonly Replica[] = [];
  /** Renewals follow each other; of those that wait, the last one is enough. */
  let last: Promise<void> = Promise.resolve();
  let wanted = 0;

  const names = functions.length === 0 ? ["all"] : functions;
  const prepare = (role: "bridge" | "worker" | "gateway", name: string): Replica =>
    prepareReplica({
      ground,
      role,
      name: `${name}${ground.suffix}`,
      functions: role === "gateway" ? [] : names,
      // Any port: debuggers come by the one that stays.
      nodeArgs: role === "worker" && inspector !== undefined ? ["--inspect=127.0.0.1:0"] : [],
      env: {
        ...(role === "gateway" && receiver?.env),
        [crdDigestVariable]: current?.workers[0]?.declared?.crds,
      },
      onRecord: (record) => screen.record(record),
      onDeath: (exit, replica) => void revive(replica, exit),
    });

  /** Starts again what has died, as long as it is not replaced. */
  async function revive(replica: Replica, exit: Exit): Promise<void> {
    const isWanted = () =>
      !signal.aborted && ((current && replicasOf(current).includes(replica)) || bridge?.replica === replica);
    screen.tell(`${replica.child.name} ${describeExit(exit)}; starting it again`, "red");
    screen.more(replica.output);
    for (let tries = 0; isWanted(); tries++) {
      await new Promise((resolve) => setTimeout(resolve, revivePauses[tries] ?? 10_000));
      if (!isWanted()) return;
      try {
        await replica.start();
        leadTo(replica);
        return screen.tell(`${replica.child.name} runs again`);
      } catch (error) {
        if (isWanted()) complain(error, `${replica.child.name} does not start`);
      }
    }
  }

  /** Who has an address that stays is found there from now on. */
  function leadTo(replica: Replica): void {
    if (current?.workers[0] === replica) inspector?.lead(replica.inspector);
    if (current?.gateways[0] === replica) receiver?.relay.lead(replica.url);
  }

  function complain(error: unknown, what: string): void {
    if (!(error instanceof CodeError)) throw error;
    const { place, lines } = loadErrorIn(error.output, root);
    const rest = current === undefined ? "Save it again to go on." : `Code ${current.number} goes on.`;
    screen.tell(`${what}${place === undefined ? "" : `: ${placeText(place)}`}. ${rest}`, "red");
    screen.more(lines.length > 0 ? lines : [error.message], []);
  }

  /** A bridge for other kinds than before starts beside the one before, too. */
  async function renewBridge(digest: string): Promise<void> {
    if (bridge?.digest === digest) return;
    const replica = prepare("bridge", `bridge-${++bridges}`);
    const before = bridge?.replica;
    await replica.start();
    bridge = { replica, digest };
    await before?.retire();
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
    const before = current;
    starting = replicasOf(next);
    try {
      await Promise.all(starting.map((replica) => replica.start()));
      starting = [];
      if (wanted > 1) throw new Error("expected the newest code, but something was saved meanwhile");
      const [first] = next.workers;
      const declared = first?.declared;
      if (declared === undefined) throw new Error("expected a worker to say what it declares");
      await renewBridge(declared.bridge);
      numbered = number;
      current = next;
      for (const replica of replicasOf(next)) leadTo(replica);
      if (before === undefined) return;
      await Promise.all(replicasOf(before).map((replica) => replica.retire()));
      first?.askForAll();
      screen.tell(`Code ${number} runs, ${duration(performance.now() - since)} after the save.`, "green");
      if (declared.crds !== before.workers[0]?.declared?.crds)
        screen.tell("The CRDs here follow the code. `npm run generate` writes those in crds/.", "yellow");
    } catch (error) {
      starting = [];
      await Promise.all(replicasOf(next).map((replica) => replica.child.stop()));
      if (signal.aborted || wanted > 1) return;
      complain(error, "The new code does not start");
    }
  }

  return {
    get declared() {
      return current?.workers[0]?.declared;
    },
    async renew() {
      const since = performance.now();
      wanted++;
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
