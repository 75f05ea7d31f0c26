/** Faults of the connection between a bridge and the API server, injected by a gate and a proxy between them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse, stringify } from "yaml";
import type { Kind } from "../../bus/kube/kind.ts";
import { type Gate, startGate, startProxy, type TcpProxy } from "../fixtures/proxy.ts";
import type { BridgeReplica } from "../harness/bridged.ts";
import type { OwnTestEnvironment } from "../harness/environment.ts";
import type { Trial } from "./scenario.ts";

/** A connection to the API server that can be disturbed. */
export interface Detour {
  /** Leads through the proxy and the gate to the API server. */
  readonly kubeconfigPath: string;
  readonly gate: Gate;
  readonly proxy: TcpProxy;
}

/** Opens a detour for the duration of the trial. */
export async function openDetour({ defer }: Trial, environment: OwnTestEnvironment): Promise<Detour> {
  const { directory, kubeconfigPath: direct } = environment.platform;
  const gate = await startGate(environment.client.connection);
  defer(() => gate.close());
  const proxy = await startProxy(Number(new URL(gate.url).port));
  defer(() => proxy.close());
  const kubeconfig = parse(await readFile(direct, "utf8"));
  kubeconfig.clusters[0].cluster = {
    server: `http://127.0.0.1:${proxy.port}`,
    "insecure-skip-tls-verify": true,
  };
  const kubeconfigPath = join(directory, "detour.kubeconfig");
  await writeFile(kubeconfigPath, stringify(kubeconfig), { mode: 0o600 });
  return { kubeconfigPath, gate, proxy };
}

/** The size of each fault. */
export interface FaultSizes {
  /** Resets in a row, and the pause before each. */
  readonly resets: number;
  readonly resetMillis: number;
  readonly throttledMillis: number;
  readonly silentMillis: number;
}

const tooMany = {
  status: 429,
  headers: { "retry-after": "1" },
  body: JSON.stringify({ kind: "Status", message: "Too many requests, please try again later.", code: 429 }),
};
const expired = {
  status: 200,
  body: `${JSON.stringify({
    type: "ERROR",
    object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" },
  })}\n`,
};
const watchMillis = 60_000;

/** How often a bridge has listed each kind. */
export const listsOf = (bridge: BridgeReplica, kinds: readonly Kind[]): number[] =>
  kinds.map((kind) => bridge.logged("listed", kind).length);

/** The faults of one bridge's connection. Each method injects one fault and resolves when it is over. */
export class ConnectionFaults {
  /** What was injected so far. */
  readonly counts = { resets: 0, connections: 0, silences: 0, throttled: 0, expired: 0 };
  readonly #detour: Detour;
  readonly #sizes: FaultSizes;
  readonly #signal: AbortSignal;

  constructor(detour: Detour, sizes: FaultSizes, signal: AbortSignal) {
    this.#detour = detour;
    this.#sizes = sizes;
    this.#signal = signal;
  }

  /** Resets all connections repeatedly. */
  async reset(): Promise<void> {
    for (let times = 0; times < this.#sizes.resets; times++) {
      await this.#pause(this.#sizes.resetMillis);
      this.counts.connections += this.#detour.proxy.reset();
      this.counts.resets++;
    }
  }

  /** Answers every call with 429 for a while. */
  async throttle(): Promise<void> {
    const { gate, proxy } = this.#detour;
    gate.answer(() => {
      this.counts.throttled++;
      return tooMany;
    });
    // End the open watches, so that they are retried.
    proxy.reset();
    await this.#pause(this.#sizes.throttledMillis);
    gate.answer(() => undefined);
  }

  /** Answers one watch of each kind with 410, and waits until the bridge has listed the kinds again. */
  async expire(bridge: BridgeReplica, kinds: readonly Kind[]): Promise<void> {
    const { gate } = this.#detour;
    const before = listsOf(bridge, kinds);
    const left = new Set(kinds.map(({ plural }) => `/${plural}?`));
    const broken = Promise.withResolvers<void>();
    gate.answer(({ url = "" }) => {
      const path = [...left].find((one) => url.includes(one) && url.includes("watch=1"));
      if (path === undefined) return undefined;
      left.delete(path);
      this.counts.expired++;
      if (left.size === 0) broken.resolve();
      return expired;
    });
    await Promise.race([broken.promise, sleep(watchMillis, undefined, { signal: this.#signal, ref: false })]);
    gate.answer(() => undefined);
    if (left.size > 0)
      throw new Error(
        `expected the bridge to watch ${[...left].join(" and ")} within ${watchMillis / 1000} s`,
      );
    // The lists must end before the next fault, which needs a watch to break.
    await bridge.log.until(() => listsOf(bridge, kinds).every((count, at) => count > (before[at] ?? 0)));
  }

  /** Stops all bytes on every connection for a while, without closing any. */
  async silence(): Promise<void> {
    const { thaw } = this.#detour.proxy.freezeAll();
    this.counts.silences++;
    try {
      await this.#pause(this.#sizes.silentMillis);
    } finally {
      thaw();
    }
  }

  #pause(millis: number): Promise<void> {
    return sleep(millis, undefined, { signal: this.#signal });
  }
}
