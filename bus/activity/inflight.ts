/**
 * Who works on what: somebody asks, and each worker answers for each of its functions. Nobody knows how many there are, so
 * whoever asks waits until no more answers come. Nothing is sent while nobody asks.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { traceId } from "../events/trace.ts";
import type { Bus } from "../nats/connect.ts";
import { type ObjectKey, type QueueScope, working } from "../subjects.ts";

const workSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** Failed attempts before this one. */
  attempt: z.int().min(0),
  trace: z.string().optional(),
});
/** An object that a worker reconciles. */
export type Work = z.infer<typeof workSchema>;

const answerSchema = z.object({
  /** Of the question. */
  question: z.string(),
  replica: z.string(),
  function: z.string(),
  /** Of the objects. */
  group: z.string(),
  kind: z.string(),
  /** The longest under way first. */
  work: z.array(workSchema),
  /** What it has in hand beside these. */
  more: z.int().min(0),
});
/** What one worker has in hand of one function. */
export type WorkInFlight = Omit<z.infer<typeof answerSchema>, "question">;

/** A worker tells of so many objects of a function. */
const maxListed = 100;

/** What one function of one process has in hand, by ticket. */
export interface InFlight {
  /** From now on it is in hand, until the result is called. */
  track(key: ObjectKey, attempt: number, traceparent: string): () => void;
  stop(): void;
}

/** Whose hands. */
export interface InFlightOptions {
  readonly replica: string;
  readonly group: string;
  readonly kind: string;
}

/** Answers for one function of one process. */
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

/** How long to wait for answers: for the first one, and for one more. Milliseconds. */
export interface AnswerTimeouts {
  readonly first: number;
  readonly next: number;
}

const pollMillis = 50;

/**
 * Asks all workers of a cluster, and resolves with what they have in hand, by replica and function. Throws a
 * `PermissionViolationError` when this user may not listen to the answers.
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
      const { question: _, ...inHand } = answer;
      found.set(nameOf(inHand), inHand);
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
