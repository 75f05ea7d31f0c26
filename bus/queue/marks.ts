/**
 * Marks record what changed while its key was owned. A mark is a message schedule: if no owner handles it, it falls due and the
 * relay requests a reconcile. This is the safety net under every race and crash.
 *
 * Each mark has its own subject: per changed object, per version, and per replica that saw the change. On a subject shared by
 * versions, a newer mark could be lost: when a schedule fires, the server purges its subject, including messages stored in the
 * meantime. A replica keeps only its newest mark per object, so marks do not accumulate.
 */

import { compareVersions } from "../kube/object.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { keyText, type MarkName, type ObjectKey, type QueueScope, timersStream, work } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import { deleteMessage } from "./deletemessage.ts";
import { type PublishObserver, publishUntilAnswered } from "./publish.ts";
import { type Cause, type Request, subjectOfCause } from "./request.ts";

/**
 * Leaves a mark for the cause of a request; resolves when this mark, or a newer one of this replica, is on the bus. The mark
 * falls due after `dueMillis`, by default after {@link MarkOptions.markMillis}.
 */
export type LeaveMark = (
  key: ObjectKey,
  request: Request,
  signal?: AbortSignal,
  dueMillis?: number,
) => Promise<void>;

/** Options of the marks of one process. */
export interface MarkOptions {
  /** Distinguishes this process's marks from those of other replicas. */
  readonly replica: string;
  readonly observe?: PublishObserver | undefined;
  /** When a mark falls due, in milliseconds: long enough that the owner has usually handled it. */
  readonly markMillis: number;
  readonly clock: Pick<BusClock, "now">;
}

/** A mark that this replica has stored. */
interface StoredMark {
  readonly version: string;
  readonly sequence: number;
}

/** A mark to be stored. */
interface PendingMark {
  readonly key: ObjectKey;
  readonly request: Request;
  readonly name: MarkName;
  readonly signal: AbortSignal | undefined;
  readonly dueMillis: number;
}

/** The writes of one object's marks: one is in progress, and the newest of the others waits for it. */
interface Lane {
  waiting: { mark: PendingMark; readonly done: PromiseWithResolvers<void> } | undefined;
}

/** Limit of remembered marks. A mark that was forgotten is not deleted when a newer one is stored: it remains until it falls due. */
const keptMarks = 10_000;

/** Opens the marks of one function in one process. */
export function openMarks(
  bus: Pick<Bus, "inbox" | "stuck">,
  scope: QueueScope,
  { replica, observe, markMillis, clock }: MarkOptions,
): LeaveMark {
  /** The newest mark that this replica stored per key and changed object, for as long as it may exist. */
  const newest = new Recent<StoredMark>({ keptMillis: 2 * markMillis, limit: keptMarks });
  const lanes = new Map<string, Lane>();

  async function store(
    object: string,
    { key, request, name, signal, dueMillis }: PendingMark,
  ): Promise<void> {
    const before = newest.get(object);
    const order = before === undefined ? 1 : compareVersions(name.version, before.version);
    // A newer mark covers this one, whether it still exists or was already handled.
    if (order < 0) return;
    // Delete first, so that there are never two. If this process dies in between, the event behind the new mark is redelivered,
    // because it is not acknowledged yet. A mark of the same version replaces itself.
    if (before !== undefined && order > 0) await deleteMessage(bus, timersStream(scope.fn), before.sequence);
    const sequence = await publishUntilAnswered(bus, work.mark(scope, key, name), JSON.stringify(request), {
      schedule: { at: new Date(clock.now() + dueMillis), target: work.markDue(scope, key, name) },
      signal,
      observe,
    });
    newest.set(object, { version: name.version, sequence });
  }

  async function run(object: string, lane: Lane, mark: PendingMark): Promise<void> {
    try {
      await store(object, mark);
    } finally {
      const { waiting } = lane;
      lane.waiting = undefined;
      if (waiting === undefined) lanes.delete(object);
      else run(object, lane, waiting.mark).then(waiting.done.resolve, waiting.done.reject);
    }
  }

  return (key, request, signal, dueMillis = markMillis) => {
    const mark: PendingMark = { key, request, name: markName(request.cause, replica), signal, dueMillis };
    const object = `${keyText(key)} ${mark.name.object}`;
    const lane = lanes.get(object);
    if (lane === undefined) {
      const opened: Lane = { waiting: undefined };
      lanes.set(object, opened);
      return run(object, opened, mark);
    }
    const { waiting } = lane;
    if (waiting === undefined) {
      const done = Promise.withResolvers<void>();
      lane.waiting = { mark, done };
      return done.promise;
    }
    if (compareVersions(mark.name.version, waiting.mark.name.version) >= 0) waiting.mark = mark;
    return waiting.done.promise;
  };
}

function markName(cause: Cause, replica: string): MarkName {
  const version = cause.type === "object" ? cause.resourceVersion : "";
  return { object: subjectOfCause(cause), replica, version };
}
