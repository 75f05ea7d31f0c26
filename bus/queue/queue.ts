/**
 * The ticket queue: one object, one worker at a time, any number of replicas.
 *
 * The work stream holds at most one message per key, the *ticket*; whoever was delivered the ticket owns the key. A
 * request that is refused because the ticket exists leaves a *mark* beside it: the owner looks for marks after it
 * has given the ticket back, drops those it has seen the change of, and asks again for the rest. A mark is a message
 * schedule, so one that nobody looks at falls due and is asked for by the relay: the net under every race and crash.
 *
 * Marks are per changed object *and* per replica that saw the change. Events of one object may be handled by two
 * replicas at once, and on a shared subject the older mark could replace the newer one and be dropped as seen.
 */
import type { Bus } from "../connect.ts";
import { compareVersions } from "../kube/object.ts";
import { type ObjectKey, type QueueScope, streams, work } from "../subjects.ts";
import { isSubjectTaken, type PublishObserver, publishUntilAnswered } from "./publish.ts";
import { parseRequest, type Request, subjectOfCause } from "./request.ts";

/** When a mark falls due, in milliseconds: long enough that the owner has usually looked before. */
const markMillis = 1000;

/** A mark that was found beside a key. */
export interface Mark {
  readonly request: Request;
  readonly sequence: number;
}

/** Versions by object uid: what a reconcile has read or written. */
export type Seen = ReadonlyMap<string, string>;

/** The producing side of a function's queue; {@link "./pull.ts"} is the consuming side. */
export interface TicketQueue {
  readonly scope: QueueScope;
  /** Makes a request. `owned` means that the key has an owner and a mark was left for it. */
  request(key: ObjectKey, request: Request, signal?: AbortSignal): Promise<"accepted" | "owned">;
  /** Makes a request that a present owner covers (a timer that fell due, say), or that is tried again soon. */
  requestUnlessOwned(key: ObjectKey, request: Request, signal?: AbortSignal): Promise<"accepted" | "owned">;
  /** The marks beside a key. May lag behind on a replicated bus; the marks fall due all the same. */
  marks(key: ObjectKey): Promise<Mark[]>;
  /** Takes marks away, up to and including the newest of them. */
  dropMarks(key: ObjectKey, marks: readonly Mark[]): Promise<void>;
}

/** A mark is covered when its object was seen at the mark's version or a later one. */
export function isCovered({ cause }: Request, seen: Seen): boolean {
  if (cause.type !== "object") return false;
  const version = seen.get(cause.uid);
  return version !== undefined && compareVersions(version, cause.resourceVersion) >= 0;
}

/** Opens a function's queue. `replica` tells this process's marks from others'. */
export function ticketQueue(
  bus: Pick<Bus, "js" | "jsm">,
  scope: QueueScope,
  replica: string,
  observe?: PublishObserver,
): TicketQueue {
  const newest = newestMarks();

  async function tryTicket(
    key: ObjectKey,
    request: Request,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    try {
      await publishUntilAnswered(bus, work.ticket(scope, key), JSON.stringify(request), {
        signal,
        ...(observe && { observe }),
      });
      return true;
    } catch (error) {
      if (isSubjectTaken(error)) return false;
      throw error;
    }
  }

  async function mark(key: ObjectKey, request: Request, signal: AbortSignal | undefined): Promise<void> {
    const changed = newest.of(request);
    const object = `${subjectOfCause(changed.cause)}@${replica}`;
    await publishUntilAnswered(bus, work.mark(scope, key, object), JSON.stringify(changed), {
      schedule: {
        specification: new Date(Date.now() + markMillis),
        target: work.markDue(scope, key, object),
      },
      signal,
      ...(observe && { observe }),
    });
  }

  return {
    scope,
    async request(key, request, signal) {
      if (await tryTicket(key, request, signal)) return "accepted";
      await mark(key, request, signal);
      return "owned";
    },
    async requestUnlessOwned(key, request, signal) {
      return (await tryTicket(key, request, signal)) ? "accepted" : "owned";
    },
    async marks(key) {
      const filter = work.marksOf(scope, key);
      // Most keys have none, and a single read answers that at half the price of a batch.
      const first = await bus.jsm.direct.getMessage(streams.timers, { seq: 1, next_by_subj: filter });
      if (first === null) return [];
      const marks: Mark[] = [];
      const found = await bus.jsm.direct.getBatch(streams.timers, { seq: first.seq, next_by_subj: filter });
      for await (const message of found) {
        marks.push({ request: parseRequest(message.string()), sequence: message.seq });
      }
      return marks;
    },
    async dropMarks(key, marks) {
      const last = Math.max(...marks.map((mark) => mark.sequence));
      await bus.jsm.streams.purge(streams.timers, { filter: work.marksOf(scope, key), seq: last + 1 });
    },
  };
}

/**
 * The newest version of each object that this replica has made a mark for. Events of one object may be handled out of
 * order or be retried; a mark always carries the newest version known here, so a later mark never says less.
 */
function newestMarks(limit = 10_000) {
  const known = new Map<string, Request>();
  return {
    of(request: Request): Request {
      if (request.cause.type !== "object") return request;
      const { uid, resourceVersion } = request.cause;
      const before = known.get(uid);
      if (
        before?.cause.type === "object" &&
        compareVersions(before.cause.resourceVersion, resourceVersion) > 0
      ) {
        return before;
      }
      known.delete(uid);
      known.set(uid, request);
      if (known.size > limit) known.delete(known.keys().next().value as string);
      return request;
    },
  };
}
