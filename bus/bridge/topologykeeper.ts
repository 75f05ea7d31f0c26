/** A bus that comes back may be an empty one: its disk was lost, or somebody has removed a stream. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Bus } from "../connect.ts";
import { type BusOptions, ensureTopology, type Interest } from "../topology.ts";

/** What is kept, and for how long. */
export interface TopologyKeeperOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  readonly interests?: readonly Interest[] | undefined;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const againMillis = 1000;

/** Makes what is missing each time that the connection was lost and is there again. */
export async function keepTopology(options: TopologyKeeperOptions): Promise<void> {
  const { bus, busOptions, interests, signal, log } = options;
  const statuses = bus.nc.status()[Symbol.asyncIterator]();
  const stopped = new Promise<{ done: true; value: undefined }>((resolve) => {
    signal.addEventListener("abort", () => resolve({ done: true, value: undefined }), { once: true });
  });
  while (!signal.aborted) {
    const { done, value: status } = await Promise.race([statuses.next(), stopped]);
    if (done) return;
    if (status?.type !== "reconnect") continue;
    while (!signal.aborted) {
      try {
        await ensureTopology(bus, busOptions, interests);
        break;
      } catch (error) {
        log.warn({ err: error }, "streams and consumers not looked at, trying again");
        await sleep(againMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
