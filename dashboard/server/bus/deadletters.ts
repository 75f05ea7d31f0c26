/** Lists, shows, and replays dead letters. */
import {
  type AddressedDeadLetter,
  type Bus,
  type DeadLetters,
  deadLetters,
  type ObjectKey,
  ticketQueue,
} from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";
import type { DeadLetterDetail, DeadLetterItem } from "../../api/bus.ts";
import { apiCause, apiObject, apiTrace } from "./apivalues.ts";

/** Dependencies of these functions. */
export interface DeadLetterContext {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  /** Whether the user may replay dead letters in a namespace. */
  mayReplay(namespace: string): Promise<boolean>;
}

/** The dead letter does not exist. */
export class NoDeadLetterError extends Error {
  override readonly name = "NoDeadLetterError";
}

const nameOf = (key: ObjectKey): string => [key.namespace, key.name].filter(Boolean).join("/");

/** All dead letters in these namespaces, newest first. */
export async function listDeadLetters(
  context: DeadLetterContext,
  namespaces: readonly string[] | "every",
  functionName: string | undefined,
): Promise<DeadLetterItem[]> {
  const { bus, cluster, functions } = context;
  const selected = functions.filter(({ name }) => functionName === undefined || name === functionName);
  const found = await Promise.all(selected.map(({ name }) => deadLetters(bus, { fn: name, cluster }).list()));
  const visible = found
    .flat()
    .filter(({ key }) => namespaces === "every" || namespaces.includes(key.namespace));
  visible.sort((a, b) => b.letter.time.localeCompare(a.letter.time));
  return Promise.all(visible.map((letter) => itemOf(context, letter)));
}

async function itemOf(
  { functions, mayReplay }: DeadLetterContext,
  { fn, key, letter }: AddressedDeadLetter,
): Promise<DeadLetterItem> {
  const { reason, message, attempts, time, replica, cause, traceparent } = letter;
  return {
    ...{ function: fn, object: apiObject(functions, fn, key), reason, message, attempts, time, replica },
    cause: apiCause(cause),
    trace: apiTrace(traceparent),
    mayReplay: await mayReplay(key.namespace),
  };
}

/** A dead letter with its stack. Throws a {@link NoDeadLetterError}. */
export async function getDeadLetter(
  context: DeadLetterContext,
  fn: string,
  key: ObjectKey,
): Promise<DeadLetterDetail> {
  const { cluster } = context;
  const letter = await deadLettersOf(context, fn, key).get(key);
  if (letter === undefined) throw notFound(fn, key);
  return { ...(await itemOf(context, { fn, cluster, key, letter })), stack: letter.stack ?? null };
}

/** Enqueues the reconcile again and deletes the dead letter. Throws a {@link NoDeadLetterError}. */
export async function replayDeadLetter(
  context: Pick<DeadLetterContext, "bus" | "cluster" | "functions">,
  fn: string,
  key: ObjectKey,
): Promise<void> {
  const { bus, cluster } = context;
  const stored = deadLettersOf(context, fn, key);
  if ((await stored.get(key)) === undefined) throw notFound(fn, key);
  await stored.replay(ticketQueue(bus, { fn, cluster }, { replica: "denrei-dashboard" }), key);
}

/** Accepts only known functions, because the name becomes part of a subject. */
function deadLettersOf(
  { bus, cluster, functions }: Pick<DeadLetterContext, "bus" | "cluster" | "functions">,
  fn: string,
  key: ObjectKey,
): DeadLetters {
  if (!functions.some(({ name }) => name === fn)) throw notFound(fn, key);
  return deadLetters(bus, { fn, cluster });
}

const notFound = (fn: string, key: ObjectKey): NoDeadLetterError =>
  new NoDeadLetterError(`There is no dead letter of ${fn} for ${nameOf(key)}. It may have been replayed.`);
