/**
 * The sweep requests every object of a function at an interval, independent of events and timers. It is a message schedule of
 * the function. When it falls due, one replica receives it and sets the next one before it starts its work. If the schedule is
 * lost or stranded ({@link "./stranded.ts"}), any replica sets it again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredMsg } from "@nats-io/jetstream";
import type { Kind } from "../kube/kind.ts";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import type { Delivery } from "../nats/delivery.ts";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import {
  keyText,
  kindSubjects,
  type ObjectKey,
  parseObjectSubject,
  streams,
  sweeps,
  timersStream,
} from "../subjects.ts";
import { publishUntilAnswered } from "./publish.ts";
import type { TicketQueue } from "./queue.ts";
import { newRequest } from "./request.ts";

/** Options of a sweep. */
export interface SweepOptions {
  readonly bus: Pick<Bus, "inbox" | "stuck" | "jsm">;
  readonly queue: TicketQueue;
  readonly kind: Kind;
  /** Interval of the sweeps. */
  readonly everyMillis: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly clock?: Pick<BusClock, "now">;
}

/** The sweeps of one function in one process. */
export interface Sweep {
  /** Handles a due schedule: requests every object, unless the signal stops it. */
  due(delivery: Pick<Delivery, "extend">): Promise<"swept" | "stopped">;
  /** Resolves when all work has ended after the signal. */
  readonly ended: Promise<void>;
}

/** Objects requested at the same time. */
const batch = 100;

/** Starts sweeping. */
export function startSweep(options: SweepOptions): Sweep {
  const { bus, queue, kind, everyMillis, signal, onError, clock = machineClock } = options;
  const { scope } = queue;

  const arm = (expected?: number): Promise<number> =>
    publishUntilAnswered(bus, sweeps.at(scope), "", {
      schedule: { at: new Date(clock.now() + everyMillis), target: sweeps.due(scope) },
      ...(expected !== undefined && { lastSubjectSequence: expected }),
      signal,
    });

  /** Sets the schedule if it is missing, long overdue, or from a version with a longer interval or another subject. */
  async function armIfMissing(): Promise<void> {
    const last_by_subj = sweeps.at(scope);
    const found = await bus.jsm.direct.getMessage(timersStream(scope.fn), { last_by_subj });
    const isPlanned = found !== null && Math.abs(dueAt(found) - clock.now()) < 2 * everyMillis;
    if (isPlanned && found.header.get("Nats-Schedule-Target") === sweeps.due(scope)) return;
    await arm(found?.seq ?? 0).catch((error: unknown) => {
      if (!isWrongSequence(error)) throw error;
    });
  }

  /** Keys of the kind's objects on the bus, including deleted ones: their reconcile finds nothing to do. */
  async function keys(): Promise<ObjectKey[]> {
    const filter = kindSubjects(scope.cluster, kind);
    const { state } = await bus.jsm.streams.info(streams.objects, { subjects_filter: filter });
    const found = new Map<string, ObjectKey>();
    for (const key of Object.keys(state.subjects ?? {}).flatMap(keyIn)) found.set(keyText(key), key);
    return [...found.values()];
  }

  async function requestAll(delivery: Pick<Delivery, "extend">): Promise<void> {
    const all = await keys();
    for (let at = 0; at < all.length; at += batch) {
      const some = all.slice(at, at + batch);
      const request = newRequest({ type: "timer" });
      await Promise.all(some.map((key) => queue.requestUnlessOwned(key, request, signal)));
      await delivery.extend();
    }
  }

  async function keepArmed(): Promise<void> {
    while (!signal.aborted) {
      await armIfMissing().catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
      await sleep(everyMillis * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    ended: keepArmed(),
    async due(delivery) {
      try {
        await arm();
        await requestAll(delivery);
        return "swept";
      } catch (error) {
        if (signal.aborted) return "stopped";
        throw error;
      }
    },
  };
}

/** When a schedule falls due: milliseconds since the epoch, or NaN if the message is not a schedule. */
const dueAt = ({ header }: StoredMsg): number =>
  Date.parse(/^@at (.+)$/.exec(header.get("Nats-Schedule"))?.[1] ?? "");

/** The key in a subject of OBJECTS; empty if the subject names no object. */
function keyIn(subject: string): ObjectKey[] {
  try {
    const { namespace, name } = parseObjectSubject(subject);
    return [{ namespace, name }];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
