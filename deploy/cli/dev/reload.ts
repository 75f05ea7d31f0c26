/**
 * Hot reload. Replicas with new code start while those with the old code still run, and replace them once they take requests. Code
 * that does not start replaces nothing, so that a worker always runs.
 */

import { duration } from "../../environment/progress.ts";
import { describeExit, type Exit } from "../../local/index.ts";
import { isRepository } from "../layout.ts";
import type { DevEnvironment } from "./environment.ts";
import { crdDigestVariable, type Declared, roleDigestVariable } from "./protocol.ts";
import type { Receiver } from "./receiver.ts";
import type { Relay } from "./relay.ts";
import { CodeError, prepareReplica, type Replica, type ReplicaRole } from "./replicas.ts";
import type { Screen } from "./screen.ts";
import { loadErrorIn, locationText } from "./source.ts";

/** What to run. */
export interface ReloaderOptions {
  readonly environment: DevEnvironment;
  /** All functions if empty. */
  readonly functions: readonly string[];
  readonly workers: number;
  /** The debuggers' address of the one worker. */
  readonly inspector: Relay | undefined;
  /** Undefined without a gateway. */
  readonly receiver: Receiver | undefined;
  readonly root: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

interface CodeVersion {
  readonly number: number;
  readonly workers: readonly Replica[];
  readonly gateways: readonly Replica[];
}

/** The bridge, and the digest of everything that it does. */
interface RunningBridge {
  readonly replica: Replica;
  readonly digest: string;
}

const replicasOf = ({ workers, gateways }: CodeVersion): readonly Replica[] => [...workers, ...gateways];

/** How the user updates the CRDs elsewhere. */
const otherCrds = (root: string): string =>
  isRepository(root)
    ? "`npm run generate` writes those in crds/."
    : "For other clusters: npx denrei crds | kubectl apply --server-side -f -";

/** Pauses before restarts of a replica that keeps failing. Milliseconds. */
const restartPauses = [0, 1000, 3000, 10_000];

/** Runs the newest version of the code that starts. Nothing runs before the first `reload`. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #current: CodeVersion | undefined;
  #bridge: RunningBridge | undefined;
  #bridgeCount = 0;
  #starting: readonly Replica[] = [];
  /** Digest of the installed CRDs; undefined since a replica started that may have installed others. */
  #installedCrds: string | undefined;
  /** Digest of the roles in force; undefined since a replica started that may have applied others. */
  #appliedRoles: string | undefined;
  /** Reloads run one after the other; a reload is skipped if another one follows it. */
  #lastReload: Promise<void> = Promise.resolve();
  #pendingReloads = 0;
  /** Whether the saved code may differ from the running code. */
  #isOutdated = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** Declarations of the running code; undefined until a version has started. */
  get declared(): Declared | undefined {
    return this.#current?.workers[0]?.declared;
  }

  /** Replaces the running code with the saved code. Resolves when that has succeeded or failed. */
  async reload(): Promise<void> {
    const savedAt = performance.now();
    this.#pendingReloads++;
    this.#isOutdated = true;
    // Replicas that still start have outdated code.
    for (const replica of this.#starting) void replica.child.stop();
    this.#lastReload = this.#lastReload.then(async () => {
      if (this.#pendingReloads === 1 && !this.#options.signal.aborted) await this.#replace(savedAt);
      this.#pendingReloads--;
    });
    return this.#lastReload;
  }

  async #replace(savedAt: number): Promise<void> {
    const { signal } = this.#options;
    const previous = { version: this.#current, bridge: this.#bridge };
    const next = this.#prepareVersion((previous.version?.number ?? 0) + 1);
    this.#starting = replicasOf(next);
    let bridge: RunningBridge;
    try {
      bridge = await this.#start(next);
      const exited = this.#starting.find(({ child }) => child.pid === undefined);
      if (exited !== undefined)
        throw new CodeError(`${exited.child.name} exited right after its start`, exited.output);
    } catch (error) {
      const discarded = this.#starting;
      this.#starting = [];
      await Promise.all(discarded.map((replica) => replica.child.stop()));
      if (previous.version) for (const replica of replicasOf(previous.version)) this.#connectRelays(replica);
      if (signal.aborted || this.#pendingReloads > 1) return;
      const current = previous.version;
      const note = current === undefined ? "Fix it and save." : `Code ${current.number} keeps running.`;
      return this.#report(error, "The new code does not start", note);
    }
    // No await between these assignments: from here on, a replica that exits is restarted.
    this.#current = next;
    this.#bridge = bridge;
    this.#starting = [];
    this.#isOutdated = false;
    this.#installedCrds = this.declared?.crds;
    this.#appliedRoles = this.declared?.roles;
    for (const replica of replicasOf(next)) this.#connectRelays(replica);
    if (previous.bridge?.replica !== bridge.replica) await previous.bridge?.replica.retire();
    if (previous.version !== undefined) await this.#retire(previous.version, next, savedAt);
  }

  #prepareVersion(number: number): CodeVersion {
    const { workers, receiver } = this.#options;
    return {
      number,
      workers: Array.from({ length: workers }, (_, at) =>
        this.#prepare("worker", `worker-${at + 1}-code-${number}`),
      ),
      gateways: receiver === undefined ? [] : [this.#prepare("gateway", `gateway-1-code-${number}`)],
    };
  }

  #prepare(role: ReplicaRole, baseName: string): Replica {
    const { environment, functions, inspector, receiver, screen } = this.#options;
    const name = `${baseName}${environment.suffix}`;
    return prepareReplica({
      environment,
      role,
      name,
      functions: role === "gateway" ? [] : functions.length === 0 ? ["all"] : functions,
      // Any port: debuggers connect to the relay.
      nodeArgs: role === "worker" && inspector !== undefined ? ["--inspect=127.0.0.1:0"] : [],
      env: () => ({
        ...(role === "gateway" && receiver?.env),
        [crdDigestVariable]: this.#installedCrds,
        [roleDigestVariable]: this.#appliedRoles,
      }),
      onRecord: (record) => screen.record(record),
      onWebhook: (url) => environment.webhookRelay?.forwardTo(url),
      // A bridge loads the same code but does not run it.
      onPrinted: role === "worker" ? (line) => screen.printed(name, line) : undefined,
      onUnexpectedExit: (exit, replica) => void this.#restart(replica, exit),
    });
  }

  /** Starts workers and gateways, then a new bridge if the running one does something else. */
  async #start(next: CodeVersion): Promise<RunningBridge> {
    const starts = replicasOf(next).map((replica) => replica.start());
    this.#forgetInstalled();
    await Promise.all(starts);
    this.#assertNewest();
    const declared = next.workers[0]?.declared;
    if (declared === undefined) throw new Error("the worker has not logged what it declares");
    if (this.#bridge?.digest === declared.bridge) return this.#bridge;
    const replica = this.#prepare("bridge", `bridge-${++this.#bridgeCount}`);
    this.#starting = [...this.#starting, replica];
    await replica.start();
    this.#assertNewest();
    return { replica, digest: declared.bridge };
  }

  /** Saved code may have other CRDs and roles than the code that ran. */
  #forgetInstalled(): void {
    this.#installedCrds = undefined;
    this.#appliedRoles = undefined;
  }

  #assertNewest(): void {
    if (this.#pendingReloads > 1) throw new Error("another save has made this code outdated");
  }

  /** Stops the previous version, and lets the new one reconcile all objects. */
  async #retire(previous: CodeVersion, next: CodeVersion, savedAt: number): Promise<void> {
    const { screen, root } = this.#options;
    await Promise.all(replicasOf(previous).map((replica) => replica.retire()));
    const [first] = next.workers;
    first?.requestAll();
    screen.print(
      `Code ${next.number} runs, ${duration(performance.now() - savedAt)} after the save.`,
      "green",
    );
    if (first?.declared?.crds !== previous.workers[0]?.declared?.crds)
      screen.print(`The CRDs here follow the code. ${otherCrds(root)}`, "yellow");
  }

  /** Restarts a replica that has exited, until it runs or is replaced. */
  async #restart(replica: Replica, exit: Exit): Promise<void> {
    const { screen } = this.#options;
    // While new code starts, `#replace` reports its exits.
    if (!this.#isCurrent(replica)) return;
    const { name } = replica.child;
    const withWhat = this.#isOutdated ? ", with the saved code" : "";
    screen.print(`${name} ${describeExit(exit)}; restarting it${withWhat}`, "red");
    screen.more(replica.output);
    for (let attempt = 0; this.#isCurrent(replica); attempt++) {
      await new Promise((resolve) => setTimeout(resolve, restartPauses[attempt] ?? 10_000));
      if (!this.#isCurrent(replica)) return;
      try {
        const started = replica.start();
        this.#forgetInstalled();
        await started;
        this.#connectRelays(replica);
        return screen.print(`${name} is running again`);
      } catch (error) {
        if (this.#isCurrent(replica))
          this.#report(error, `${name} does not start`, "Retrying until the saved code starts.");
      }
    }
  }

  #isCurrent(replica: Replica): boolean {
    if (this.#options.signal.aborted) return false;
    const isInVersion = this.#current !== undefined && replicasOf(this.#current).includes(replica);
    return isInVersion || this.#bridge?.replica === replica;
  }

  /** Makes the relays forward to this replica, if they have to. */
  #connectRelays(replica: Replica): void {
    const { environment, inspector, receiver } = this.#options;
    if (replica.webhook !== undefined) environment.webhookRelay?.forwardTo(replica.webhook);
    if (this.#current?.workers[0] === replica) inspector?.forwardTo(replica.inspector);
    if (this.#current?.gateways[0] === replica) receiver?.relay.forwardTo(replica.url);
  }

  #report(error: unknown, what: string, note: string): void {
    if (!(error instanceof CodeError)) throw error;
    const { root, screen } = this.#options;
    const { location, lines } = loadErrorIn(error.output, root);
    screen.print(`${what}${location === undefined ? "" : `: ${locationText(location)}`}. ${note}`, "red");
    screen.more(lines.length > 0 ? lines : [error.message], []);
  }
}
