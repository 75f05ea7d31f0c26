/**
 * The ticket queue: one object, one worker at a time, any number of replicas.
 *
 * The work stream holds at most one message per key, the *ticket*. The worker that receives the ticket owns the key. A request
 * that is refused because a ticket exists leaves a *mark*. After the owner has acknowledged the ticket, it drops the marks
 * whose changes it has seen and requests a reconcile for the others ({@link "./marks.ts"}).
 */

import { compareVersions } from "../kube/object.ts";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { lastValuesOf } from "../nats/lastvalues.ts";
import { type ObjectKey, type QueueScope, timersStream, work } from "../subjects.ts";
import { openMarks } from "./marks.ts";
import { isSubjectTaken, type PublishObserver, publishUntilAnswered } from "./publish.ts";
import { type Request, requestOrReplay } from "./request.ts";

/** A stored mark of a key. */
export interface Mark {
  readonly request: Request;
  readonly sequence: number;
}

/** Versions by object uid: what a reconcile has read or written. */
export type Seen = ReadonlyMap<string, string>;

/** The producing side of a function's queue; {@link "./pull.ts"} is the consuming side. */
export interface TicketQueue {
  readonly scope: QueueScope;
  /** Makes a request. `owned` means that the key has an owner and a mark was left for each of its causes. */
  request(key: ObjectKey, request: Request, signal?: AbortSignal): Promise<"accepted" | "owned">;
  /** Makes a request that a current owner covers (such as a timer that fell due), or that the caller retries soon. */
  requestUnlessOwned(key: ObjectKey, request: Request, signal?: AbortSignal): Promise<"accepted" | "owned">;
  /** Makes a request after a delay in milliseconds. An earlier reconcile that sees the change covers it. */
  requestAfter(key: ObjectKey, request: Request, delayMillis: number, signal?: AbortSignal): Promise<void>;
  /** The marks of a key, oldest first. May lag on a replicated bus; such marks still fall due. */
  marks(key: ObjectKey): Promise<Mark[]>;
  /** Deletes the key's marks up to and including the newest of these. */
  dropMarks(key: ObjectKey, marks: readonly Mark[]): Promise<void>;
}

/** Whether a reconcile saw every change of the request, at the same version or a later one. It may have missed what a correction adds. */
export function isCovered({ cause, also = [] }: Request, seen: Seen): boolean {
  return [cause, ...also].every((change) => {
    if (change.type !== "object" || change.correction) return false;
    const version = seen.get(change.uid);
    return version !== undefined && compareVersions(version, change.resourceVersion) >= 0;
  });
}

/** Options of a queue. */
export interface TicketQueueOptions {
  /** Distinguishes this process's marks from those of other replicas. */
  readonly replica: string;
  readonly observe?: PublishObserver;
  /** When a mark falls due, in milliseconds: long enough that the owner has usually handled it. */
  readonly markMillis?: number;
  readonly clock?: Pick<BusClock, "now">;
}

/** Opens a function's queue. */
export function ticketQueue(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  scope: QueueScope,
  { replica, observe, markMillis = 1000, clock = machineClock }: TicketQueueOptions,
): TicketQueue {
  const leaveMark = openMarks(bus, scope, { replica, observe, markMillis, clock });
  const stream = timersStream(scope.fn);
  const lastMarks = lastValuesOf(bus, stream);

  async function tryTicket(
    key: ObjectKey,
    request: Request,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    try {
      await publishUntilAnswered(bus, work.ticket(scope, key), JSON.stringify(request), {
        signal,
        observe,
      });
      return true;
    } catch (error) {
      if (isSubjectTaken(error)) return false;
      throw error;
    }
  }

  return {
    scope,
    async request(key, request, signal) {
      if (await tryTicket(key, request, signal)) return "accepted";
      // One mark per change: several changes in one mark would be replaced together.
      const { also = [], ...common } = request;
      const causes = [request.cause, ...also];
      await Promise.all(causes.map((cause) => leaveMark(key, { ...common, cause }, signal)));
      return "owned";
    },
    async requestUnlessOwned(key, request, signal) {
      return (await tryTicket(key, request, signal)) ? "accepted" : "owned";
    },
    requestAfter: (key, request, delayMillis, signal) => leaveMark(key, request, signal, delayMillis),
    async marks(key) {
      const found = await lastMarks(work.marksOf(scope, key));
      return found
        .map((value) => ({ request: requestOrReplay(value.string()), sequence: value.sequence }))
        .sort((a, b) => a.sequence - b.sequence);
    },
    async dropMarks(key, marks) {
      const last = Math.max(...marks.map((mark) => mark.sequence));
      await bus.jsm.streams.purge(stream, { filter: work.marksOf(scope, key), seq: last + 1 });
    },
  };
}
