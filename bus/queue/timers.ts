/**
 * Delayed requests that survive the death of every worker: message schedules on the bus, one per key, the latest
 * replacing the one before. The server fires up to a quarter of a second late, so for short delays this process
 * keeps a timer of its own as well; whichever comes first wins, and the queue coalesces the other.
 * Schedules: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-51.md
 */
import { type BusClock, machineClock } from "../clock.ts";
import type { Bus } from "../connect.ts";
import { keyText, type ObjectKey, timersStream, work } from "../subjects.ts";
import { publishUntilAnswered } from "./publish.ts";
import type { TicketQueue } from "./queue.ts";
import { parseRequest, type Request } from "./request.ts";

/** The delayed requests of one function. */
export interface Timers {
  /**
   * Makes the request after `delayMillis`, replacing an earlier delayed request for the key. `signal` ends the retries: the
   * next owner of the key decides again.
   */
  set(key: ObjectKey, delayMillis: number, request: Request, signal?: AbortSignal): Promise<void>;
  /** The request that is waiting for a key, if any that can be read. */
  get(key: ObjectKey): Promise<Request | undefined>;
  /** Drops this process's own timers; the durable ones stay. */
  stop(): void;
}

/** Below this a local timer is kept too; the durable one then fires this much later, as the net. Milliseconds. */
const localBelowMillis = 5000;
const netMillis = 500;

/** A request, if it is one: what somebody else has put there must not keep an attempt from being settled. */
function readable(text: string): Request | undefined {
  try {
    return parseRequest(text);
  } catch {
    return undefined;
  }
}

/** Opens a function's timers. */
export function timers(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  queue: TicketQueue,
  onError: (error: unknown, key: ObjectKey) => void,
  { now }: Pick<BusClock, "now"> = machineClock,
): Timers {
  const local = new Map<string, NodeJS.Timeout>();
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

  return {
    async set(key, delayMillis, request, signal) {
      const near = delayMillis < localBelowMillis;
      const since = now() + delayMillis;
      const at = since + (near ? netMillis : 0);
      // What it waits on purpose is no waiting for a worker.
      const due = { ...request, since };
      if (near) fireLocally(key, delayMillis, due);
      await publishUntilAnswered(bus, work.timer(scope, key), JSON.stringify(due), {
        schedule: { at: new Date(at), target: work.timerDue(scope, key) },
        signal,
      });
    },
    async get(key) {
      const message = await bus.jsm.direct.getMessage(timersStream(scope.fn), {
        last_by_subj: work.timer(scope, key),
      });
      return message === null ? undefined : readable(message.string());
    },
    stop() {
      stopped = true;
      for (const timer of local.values()) clearTimeout(timer);
      local.clear();
    },
  };
}
