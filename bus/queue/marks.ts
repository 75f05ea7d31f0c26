/**
 * Marks: what changed while its key was owned. A mark is a message schedule, so one that nobody looks at falls due and is
 * asked for by the relay: the net under every race and crash.
 *
 * A mark has a subject of its own: per changed object, per version, and per replica that saw the change. On a subject
 * that versions share a newer mark could be lost: when a schedule fires, the server purges its subject, and with it
 * whatever was stored there since. So that they do not pile up, a replica keeps one mark per object: the newest.
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
 * Leaves a mark for the cause of a request; resolves when it is on the bus, or a newer one of this replica is. It falls due
 * after `dueMillis`, or as {@link MarkOptions} say.
 */
export type LeaveMark = (
  key: ObjectKey,
  request: Request,
  signal?: AbortSignal,
  dueMillis?: number,
) => Promise<void>;

/** Whose marks they are. */
export interface MarkOptions {
  /** Tells this process's marks from others'. */
  readonly replica: string;
  readonly observe?: PublishObserver | undefined;
  /** When a mark falls due, in milliseconds: long enough that the owner has usually looked before. */
  readonly markMillis: number;
  readonly clock: Pick<BusClock, "now">;
}

/** A mark that this replica has left. */
interface StoredMark {
  readonly version: string;
  readonly sequence: number;
}

/** A mark that is to be left. */
interface PendingMark {
  readonly key: ObjectKey;
  readonly request: Request;
  readonly name: MarkName;
  readonly signal: AbortSignal | undefined;
  readonly dueMillis: number;
}

/** An object whose mark is being written, and the newest of those that wait for that. */
interface Lane {
  waiting: { turn: PendingMark; readonly done: PromiseWithResolvers<void> } | undefined;
}

/** Only so many objects are changed at once; of more, older marks stay beside newer ones. */
const keptMarks = 10_000;

/** Opens the marks of one function in one process. */
export function openMarks(
  bus: Pick<Bus, "inbox" | "stuck">,
  scope: QueueScope,
  { replica, observe, markMillis, clock }: MarkOptions,
): LeaveMark {
  /** The newest mark of each object that this replica has left beside each key, as long as it may be there. */
  const newest = new Recent<StoredMark>({ keptMillis: 2 * markMillis, limit: keptMarks });
  const lanes = new Map<string, Lane>();

  async function store(
    object: string,
    { key, request, name, signal, dueMillis }: PendingMark,
  ): Promise<void> {
    const before = newest.get(object);
    const order = before === undefined ? 1 : compareVersions(name.version, before.version);
    // A newer one speaks for this one as well, whether it is there still or somebody has acted on it.
    if (order < 0) return;
    // Before and not after, so that there are never two. What is marked is a message that is not acknowledged yet: it comes
    // again if this process ends in between. The same version replaces itself.
    if (before !== undefined && order > 0) await deleteMessage(bus, timersStream(scope.fn), before.sequence);
    const sequence = await publishUntilAnswered(bus, work.mark(scope, key, name), JSON.stringify(request), {
      schedule: { at: new Date(clock.now() + dueMillis), target: work.markDue(scope, key, name) },
      signal,
      observe,
    });
    newest.set(object, { version: name.version, sequence });
  }

  async function run(object: string, lane: Lane, turn: PendingMark): Promise<void> {
    try {
      await store(object, turn);
    } finally {
      const { waiting } = lane;
      lane.waiting = undefined;
      if (waiting === undefined) lanes.delete(object);
      else run(object, lane, waiting.turn).then(waiting.done.resolve, waiting.done.reject);
    }
  }

  return (key, request, signal, dueMillis = markMillis) => {
    const turn: PendingMark = { key, request, name: markName(request.cause, replica), signal, dueMillis };
    const object = `${keyText(key)} ${turn.name.object}`;
    const lane = lanes.get(object);
    if (lane === undefined) {
      const opened: Lane = { waiting: undefined };
      lanes.set(object, opened);
      return run(object, opened, turn);
    }
    const { waiting } = lane;
    if (waiting === undefined) {
      const done = Promise.withResolvers<void>();
      lane.waiting = { turn, done };
      return done.promise;
    }
    if (compareVersions(turn.name.version, waiting.turn.name.version) >= 0) waiting.turn = turn;
    return waiting.done.promise;
  };
}

function markName(cause: Cause, replica: string): MarkName {
  const version = cause.type === "object" ? cause.resourceVersion : "";
  return { object: subjectOfCause(cause), replica, version };
}
