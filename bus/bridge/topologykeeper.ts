/** Heals the topology while the bridge runs: a stream or consumer that was deleted or altered, or a bus that came back empty. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Bus } from "../nats/connect.ts";
import { streams, topologyAdvisories } from "../subjects.ts";
import { type BusOptions, ensureTopology, type Interest } from "../topology.ts";

/** What is kept, and for how long. */
export interface TopologyKeeperOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** Those of now: an installation may list other kinds than before. */
  readonly interests: () => readonly Interest[];
  /** Existing objects that this replica has put into the stream of objects. */
  readonly published: () => number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called when the stream of objects has lost objects, and how: it is another one than before, or was purged. */
  readonly onObjectsLost: (how: string) => void;
  /** Called with why the topology cannot be ensured, and with undefined when it is. */
  readonly onTrouble: (error: Error | undefined) => void;
  /** From one look to the next when nothing was announced, in milliseconds. */
  readonly everyMillis?: number;
}

/** Pause after a failure, doubled each time up to the usual interval. Milliseconds. */
const retryMillis = 1000;
/** A stream takes its consumers along: what is announced together is one reason to look. Milliseconds. */
const settleMillis = 200;

/** Facts about the stream of objects that change when it loses some. */
export interface Objects {
  /** RFC 3339. */
  readonly created: string;
  readonly count: number;
  /** An operator has given the stream a limit: when it is full it drops objects by itself, and listing them again does not help. */
  readonly limited: boolean;
}

const objectsIn = async ({ jsm }: Pick<Bus, "jsm">): Promise<Objects> => {
  const { created, config, state } = await jsm.streams.info(streams.objects);
  return { created, count: state.messages, limited: config.max_bytes > 0 };
};

/** Identifies the stream of objects: a stream that is created again is another one. RFC 3339. */
export const objectsCreatedAt = async (bus: Pick<Bus, "jsm">): Promise<string> =>
  (await objectsIn(bus)).created;

/**
 * How objects were lost between two looks, if they were. There is a message for each one that exists, and those that are deleted go one by
 * one after days. So fewer messages than `published`, the number of existing objects before this look, or half as many as at the last look,
 * mean a purge.
 */
export function lossOf(before: Objects, now: Objects, published: number): string | undefined {
  if (now.created !== before.created) return "the stream of objects was created again";
  const least = Math.max(now.limited ? 0 : published, before.count / 2);
  return now.count < least ? "the stream of objects was purged" : undefined;
}

/**
 * Ensures the topology when JetStream announces a change, when the connection is back, and every so often, until `signal`
 * aborts. Begin with it after the topology was ensured once.
 */
export async function keepTopology(options: TopologyKeeperOptions): Promise<void> {
  const {
    bus,
    busOptions,
    interests,
    published,
    signal,
    log,
    onObjectsLost,
    onTrouble,
    everyMillis = 30_000,
  } = options;
  let wake: () => void = () => undefined;
  let isDue = false;
  const look = (): void => {
    isDue = true;
    wake();
  };
  const subscriptions = topologyAdvisories.map((subject) => bus.nc.subscribe(subject, { callback: look }));
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === "reconnect") look();
  })();

  async function untilDue(): Promise<void> {
    const called = new Promise<void>((resolve) => {
      wake = resolve;
      if (isDue) resolve();
    });
    const rested = new AbortController();
    const end = AbortSignal.any([signal, rested.signal]);
    const pause = sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal: end });
    await Promise.race([called, pause.catch(() => undefined)]);
    rested.abort();
    if (isDue) await sleep(settleMillis, undefined, { signal }).catch(() => undefined);
    isDue = false;
  }

  let objects = await objectsIn(bus);
  let failures = 0;
  while (!signal.aborted) {
    await untilDue();
    if (signal.aborted) break;
    try {
      await ensureTopology(bus, busOptions, interests());
      const existing = published();
      const now = await objectsIn(bus);
      const loss = lossOf(objects, now, existing);
      objects = now;
      if (loss !== undefined) {
        log.warn(`${loss}, listing all kinds`);
        onObjectsLost(loss);
      }
      onTrouble(undefined);
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      log.warn({ err: error }, "failed to ensure the topology, retrying");
      onTrouble(error as Error);
      const pause = Math.min(everyMillis, retryMillis * 2 ** Math.min(failures++, 10));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      isDue = true;
    }
  }
  for (const subscription of subscriptions) if (!bus.nc.isClosed()) subscription.unsubscribe();
}
