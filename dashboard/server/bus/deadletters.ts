/** Lists, shows, and replays dead letters. */
import type { Bus } from "../../../bus/connect.ts";
import { type AddressedDeadLetter, type DeadLetters, deadLetters } from "../../../bus/queue/deadletters.ts";
import { ticketQueue } from "../../../bus/queue/queue.ts";
import type { ObjectKey } from "../../../bus/subjects.ts";
import type { ReconcileFunction } from "../../../bus/worker/function.ts";
import type { DeadLetterDetail, DeadLetterItem } from "../../api/bus.ts";
import { causeOf, objectOf, traceOf } from "./names.ts";

/** Dependencies of these functions. */
export interface LetterTools {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  /** Whether the user may replay dead letters in a namespace. */
  mayReplay(namespace: string): Promise<boolean>;
}

/** The dead letter does not exist. */
export class NoLetterError extends Error {
  override readonly name = "NoLetterError";
}

const nameOf = (key: ObjectKey): string => [key.namespace, key.name].filter(Boolean).join("/");

/** All dead letters in these namespaces, newest first. */
export async function listLetters(
  tools: LetterTools,
  places: readonly string[] | "every",
  only: string | undefined,
): Promise<DeadLetterItem[]> {
  const { bus, cluster, functions } = tools;
  const wanted = functions.filter(({ name }) => only === undefined || name === only);
  const found = await Promise.all(wanted.map(({ name }) => deadLetters(bus, { fn: name, cluster }).list()));
  const seen = found.flat().filter(({ key }) => places === "every" || places.includes(key.namespace));
  seen.sort((a, b) => b.letter.time.localeCompare(a.letter.time));
  return Promise.all(seen.map((letter) => itemOf(tools, letter)));
}

async function itemOf(
  { functions, mayReplay }: LetterTools,
  { fn, key, letter }: AddressedDeadLetter,
): Promise<DeadLetterItem> {
  const { reason, message, attempts, time, replica, cause, traceparent } = letter;
  return {
    ...{ function: fn, object: objectOf(functions, fn, key), reason, message, attempts, time, replica },
    cause: causeOf(cause),
    trace: traceOf(traceparent),
    mayReplay: await mayReplay(key.namespace),
  };
}

/** A dead letter with its stack. Throws a {@link NoLetterError}. */
export async function showLetter(tools: LetterTools, fn: string, key: ObjectKey): Promise<DeadLetterDetail> {
  const { cluster } = tools;
  const letter = await lettersOf(tools, fn, key).get(key);
  if (letter === undefined) throw missing(fn, key);
  return { ...(await itemOf(tools, { fn, cluster, key, letter })), stack: letter.stack ?? null };
}

/** Enqueues the reconcile again and deletes the dead letter. Throws a {@link NoLetterError}. */
export async function replayLetter(
  tools: Pick<LetterTools, "bus" | "cluster" | "functions">,
  fn: string,
  key: ObjectKey,
): Promise<void> {
  const { bus, cluster } = tools;
  const letters = lettersOf(tools, fn, key);
  if ((await letters.get(key)) === undefined) throw missing(fn, key);
  await letters.replay(ticketQueue(bus, { fn, cluster }, { replica: "denrei-dashboard" }), key);
}

/** Accepts only known functions, because the name becomes part of a subject. */
function lettersOf(
  { bus, cluster, functions }: Pick<LetterTools, "bus" | "cluster" | "functions">,
  fn: string,
  key: ObjectKey,
): DeadLetters {
  if (!functions.some(({ name }) => name === fn)) throw missing(fn, key);
  return deadLetters(bus, { fn, cluster });
}

const missing = (fn: string, key: ObjectKey): NoLetterError =>
  new NoLetterError(`There is no dead letter of ${fn} for ${nameOf(key)}. It may have been replayed.`);
