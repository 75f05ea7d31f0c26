/**
 * Lists the objects that are being reconciled. A client sends a question, and each worker answers for each of its functions.
 * The number of workers is unknown, so the client waits until no more answers arrive. Workers send nothing unless asked.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import type { Bus } from "../nats/connect.ts";
import { type ObjectKey, type QueueScope, working } from "../subjects.ts";
import { traceId } from "../tracing/trace.ts";

const workSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** Failed attempts before this one. */
  attempt: z.int().min(0),
  trace: z.string().optional(),
});
/** An object that is being reconciled. */
export type Work = z.infer<typeof workSchema>;

const answerSchema = z.object({
  /** The id of the question. */
  question: z.string(),
  replica: z.string(),
  function: z.string(),
  /** Group and kind of the objects. */
  group: z.string(),
  kind: z.string(),
  /** Longest running first. */
  work: z.array(workSchema),
  /** Number of further objects that are not listed. */
  more: z.int().min(0),
});
/** The objects of one function that one worker is reconciling. */
export type WorkInFlight = Omit<z.infer<typeof answerSchema>, "question">;

/** Objects that one answer lists. */
const maxListed = 100;

/** Tracks the objects that one function in one process is reconciling. */
export interface InFlight {
  /** The object counts as in flight until the returned function is called. */
  track(key: ObjectKey, attempt: number, traceparent: string): () => void;
  stop(): void;
}

/** The worker, and the kind of its objects. */
export interface InFlightOptions {
  readonly replica: string;
  readonly group: string;
  readonly kind: string;
}

/** Starts answering for one function of one process. */
export function openInFlight(
  nc: NatsConnection,
  scope: QueueScope,
  { replica, group, kind }: InFlightOptions,
): InFlight {
  const held = new Set<Work>();
  const answer = (question: string): void => {
    const work = [...held].slice(0, maxListed);
    const more = held.size - work.length;
    const report = { question, replica, function: scope.fn, group, kind, work, more };
    nc.publish(working.answer(scope), JSON.stringify(report satisfies z.infer<typeof answerSchema>));
  };
  const subscription = nc.subscribe(working.asked(scope.cluster), {
    callback(error, message) {
      if (error !== null || nc.isClosed()) return;
      answer(message.string());
    },
  });
  return {
    track(key, attempt, traceparent) {
      const trace = traceId(traceparent);
      const work: Work = { ...key, since: Date.now(), attempt, ...(trace !== undefined && { trace }) };
      held.add(work);
      return () => held.delete(work);
    },
    stop() {
      if (!nc.isClosed()) subscription.unsubscribe();
    },
  };
}

/** How long to wait for the first answer, and for each further one. Milliseconds. */
export interface AnswerTimeouts {
  readonly first: number;
  readonly next: number;
}

const pollMillis = 50;

/**
 * Asks all workers of a cluster for their objects in flight; the result is sorted by replica and function. Throws a
 * `PermissionViolationError` if this user may not subscribe to the answers.
 */
export async function askInFlight(
  { nc }: Pick<Bus, "nc">,
  cluster: string,
  { first, next }: AnswerTimeouts = { first: 1000, next: 300 },
): Promise<WorkInFlight[]> {
  const question = randomUUID();
  const found = new Map<string, WorkInFlight>();
  let until = performance.now() + first;
  let refusal: Error | undefined;
  const subscription = nc.subscribe(working.answers(cluster), {
    callback(error, message) {
      if (error !== null) {
        refusal = error;
        return;
      }
      const answer = answerIn(message.string());
      if (answer?.question !== question) return;
      const { question: _, ...inFlight } = answer;
      found.set(nameOf(inFlight), inFlight);
      until = performance.now() + next;
    },
  });
  try {
    nc.publish(working.asked(cluster), question);
    while (refusal === undefined && performance.now() < until) await sleep(pollMillis);
  } finally {
    if (!subscription.isClosed()) subscription.unsubscribe();
  }
  if (refusal !== undefined) throw refusal;
  return [...found.values()].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

const nameOf = ({ replica, function: fn }: WorkInFlight): string => `${replica} ${fn}`;

function answerIn(text: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
