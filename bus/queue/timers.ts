/**
 * Delayed requests that survive the crash of every worker: message schedules on the bus, one per key, where the latest replaces
 * the one before. The server fires up to a quarter of a second late, so for short delays this process also keeps a local
 * timer. The first of the two makes the request, and the queue coalesces the other.
 * Schedules: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-51.md
 */
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { keyText, type ObjectKey, timersStream, work } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import { deleteMessage } from "./deletemessage.ts";
import { publishUntilAnswered } from "./publish.ts";
import { isCovered, type Seen, type TicketQueue } from "./queue.ts";
import { parseRequest, type Request } from "./request.ts";

/** The delayed requests of one function. */
export interface Timers {
  /**
   * Makes the request after `delayMillis`, replacing an earlier delayed request for the key. `signal` ends the retries: the
   * next owner of the key decides again.
   */
  set(key: ObjectKey, delayMillis: number, request: Request, signal?: AbortSignal): Promise<void>;
  /** The delayed request of a key; undefined if none is scheduled, or it is unreadable. */
  get(key: ObjectKey): Promise<Request | undefined>;
  /**
   * Drops the retry of a key if a successful reconcile has covered its changes: those in `covered`, or all. With a set of changes
   * this asks the bus only if this process has set a retry, or another one is `likely` to have done so. A retry that remains
   * costs a needless reconcile.
   */
  dropRetry(key: ObjectKey, covered: Seen | "all", likely: boolean): Promise<void>;
  /** Drops this process's local timers; the durable ones stay. */
  stop(): void;
}

/** Shorter delays also get a local timer; the durable one then fires `netMillis` later, as the safety net. Milliseconds. */
const localBelowMillis = 5000;
const netMillis = 500;
/** Longer than the longest retry pause. */
const rememberedRetries = { keptMillis: 900_000, limit: 10_000 };

/** Parses a request; undefined if it is unreadable. Another client's message must not keep an attempt from being settled. */
function readRequest(text: string): Request | undefined {
  try {
    return parseRequest(text);
  } catch {
    return undefined;
  }
}

/** Any reconcile satisfies a timer. Only its own reconcile satisfies a webhook or a replay. */
const isSatisfied = ({ cause, also = [], ...request }: Request, covered: Seen | "all"): boolean =>
  [cause, ...also].every(
    (one) => one.type === "timer" || covered === "all" || isCovered({ ...request, cause: one }, covered),
  );

/** Opens a function's timers. */
export function timers(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  queue: TicketQueue,
  onError: (error: unknown, key: ObjectKey) => void,
  { now }: Pick<BusClock, "now"> = machineClock,
): Timers {
  const local = new Map<string, NodeJS.Timeout>();
  const retries = new Recent<true>(rememberedRetries);
  let stopped = false;
  const { scope } = queue;

  function fireLocally(key: ObjectKey, delayMillis: number, request: Request): void {
    if (stopped) return;
    const text = keyText(key);
    clearTimeout(local.get(text));
    local.set(
      text,
      setTimeout(() => {
        local.delete(text);
        queue.requestUnlessOwned(key, request).catch((error: unknown) => onError(error, key));
      }, delayMillis),
    );
  }

  const latest = (key: ObjectKey) =>
    bus.jsm.direct.getMessage(timersStream(scope.fn), { last_by_subj: work.timer(scope, key) });

  return {
    async set(key, delayMillis, request, signal) {
      if (request.failed) retries.set(keyText(key), true);
      const isShort = delayMillis < localBelowMillis;
      const since = now() + delayMillis;
      const at = since + (isShort ? netMillis : 0);
      // The intended delay does not count as time in the queue.
      const due = { ...request, since };
      if (isShort) fireLocally(key, delayMillis, due);
      await publishUntilAnswered(bus, work.timer(scope, key), JSON.stringify(due), {
        schedule: { at: new Date(at), target: work.timerDue(scope, key) },
        signal,
      });
    },
    async get(key) {
      const message = await latest(key);
      return message === null ? undefined : readRequest(message.string());
    },
    async dropRetry(key, covered, likely) {
      const text = keyText(key);
      if (covered !== "all" && !likely && retries.get(text) === undefined) return;
      retries.delete(text);
      try {
        const message = await latest(key);
        const request = message === null ? undefined : readRequest(message.string());
        if (message === null || !request?.failed || !isSatisfied(request, covered)) return;
        clearTimeout(local.get(text));
        local.delete(text);
        await deleteMessage(bus, timersStream(scope.fn), message.seq);
      } catch (error) {
        onError(error, key);
      }
    },
    stop() {
      stopped = true;
      for (const timer of local.values()) clearTimeout(timer);
      local.clear();
    },
  };
}
