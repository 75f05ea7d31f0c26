/** Repairs the topology while the bridge runs: streams or consumers that were deleted or changed, or an empty bus. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Bus } from "../nats/connect.ts";
import { streams } from "../subjects.ts";
import { topologyAdvisories } from "../topology/advisories.ts";
import { type BusOptions, ensureTopology, type FunctionSubscription } from "../topology.ts";

/** Options of {@link keepTopology}. */
export interface TopologyKeeperOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** The current subscriptions. An installation may list other kinds than before. */
  readonly subscriptions: () => readonly FunctionSubscription[];
  /** Number of existing objects that this replica has published to the objects stream. */
  readonly published: () => number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called when the objects stream lost objects, with the reason: it was recreated or purged. */
  readonly onObjectsLost: (how: string) => void;
  /** Called with the error when the topology cannot be ensured, and with undefined when it is. */
  readonly onProblem: (error: Error | undefined) => void;
  /** Check interval in milliseconds, in the absence of advisories. */
  readonly everyMillis?: number;
}

/** Pause after a failure, doubled each time up to the check interval. Milliseconds. */
const retryMillis = 1000;
/** Deleting a stream deletes its consumers: collect the advisories of this time into one check. Milliseconds. */
const settleMillis = 200;

/** Properties of the objects stream that change when it loses objects. */
export interface Objects {
  /** RFC 3339. */
  readonly created: string;
  readonly count: number;
  /** An operator set a limit: a full stream drops objects by itself, and listing them again does not help. */
  readonly limited: boolean;
}

const objectsIn = async ({ jsm }: Pick<Bus, "jsm">): Promise<Objects> => {
  const { created, config, state } = await jsm.streams.info(streams.objects);
  return { created, count: state.messages, limited: config.max_bytes > 0 };
};

/** Identifies the objects stream by its creation time: a recreated stream is a different one. RFC 3339. */
export const objectsCreatedAt = async (bus: Pick<Bus, "jsm">): Promise<string> =>
  (await objectsIn(bus)).created;

/**
 * How objects were lost between two checks; undefined if none were. The stream has one message per existing object, and
 * deletions expire one by one after days. So it was purged if it has fewer messages than `published`, the number of
 * existing objects before this check, or fewer than half as many as at the last check.
 */
export function lossOf(before: Objects, now: Objects, published: number): string | undefined {
  if (now.created !== before.created) return "the stream of objects was created again";
  const least = Math.max(now.limited ? 0 : published, before.count / 2);
  return now.count < least ? "the stream of objects was purged" : undefined;
}

/**
 * Ensures the topology after JetStream advisories, after a reconnect, and periodically, until `signal` aborts. Call it
 * after the topology was ensured once.
 */
export async function keepTopology(options: TopologyKeeperOptions): Promise<void> {
  const {
    bus,
    busOptions,
    subscriptions,
    published,
    signal,
    log,
    onObjectsLost,
    onProblem,
    everyMillis = 30_000,
  } = options;
  let wake: () => void = () => undefined;
  let isDue = false;
  const requestCheck = (): void => {
    isDue = true;
    wake();
  };
  const advisories = topologyAdvisories.map((subject) =>
    bus.nc.subscribe(subject, { callback: requestCheck }),
  );
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === "reconnect") requestCheck();
  })();

  async function untilDue(): Promise<void> {
    const called = new Promise<void>((resolve) => {
      wake = resolve;
      if (isDue) resolve();
    });
    const woken = new AbortController();
    const end = AbortSignal.any([signal, woken.signal]);
    const pause = sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal: end });
    await Promise.race([called, pause.catch(() => undefined)]);
    woken.abort();
    if (isDue) await sleep(settleMillis, undefined, { signal }).catch(() => undefined);
    isDue = false;
  }

  let objects = await objectsIn(bus);
  let failures = 0;
  while (!signal.aborted) {
    await untilDue();
    if (signal.aborted) break;
    try {
      await ensureTopology(bus, busOptions, subscriptions());
      const existing = published();
      const now = await objectsIn(bus);
      const loss = lossOf(objects, now, existing);
      objects = now;
      if (loss !== undefined) {
        log.warn(`${loss}, listing all kinds`);
        onObjectsLost(loss);
      }
      onProblem(undefined);
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      log.warn({ err: error }, "failed to ensure the topology, retrying");
      onProblem(error as Error);
      const pause = Math.min(everyMillis, retryMillis * 2 ** Math.min(failures++, 10));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      isDue = true;
    }
  }
  for (const advisory of advisories) if (!bus.nc.isClosed()) advisory.unsubscribe();
}
