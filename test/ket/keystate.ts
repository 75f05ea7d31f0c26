/** The state of one object in the queue of one function. */
import { JetStreamApiError } from "@nats-io/jetstream";
import {
  type Bus,
  consumers,
  deadLetters,
  keyText,
  listRequests,
  type ObjectKey,
  type QueueScope,
  timersStream,
  work,
  workStream,
} from "denrei/bus";

const absent = (error: unknown): undefined => {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined;
  throw error;
};

/** One line for people: the request for the object, and everything else that the bus stores for it. */
export async function keyState(bus: Bus, scope: QueueScope, key: ObjectKey): Promise<string> {
  const timers = timersStream(scope.fn);
  const last = (stream: string, subject: string) =>
    bus.jsm.direct.getMessage(stream, { last_by_subj: subject }).catch(absent);
  const [ticket, consumer, parked, timer, letter] = await Promise.all([
    last(workStream(scope.fn), work.ticket(scope, key)),
    bus.jsm.consumers.info(workStream(scope.fn), consumers.worker(scope)).catch(absent),
    bus.jsm.streams.info(timers, { subjects_filter: work.marksOf(scope, key) }).catch(absent),
    last(timers, work.timer(scope, key)),
    deadLetters(bus, scope).get(key).catch(absent),
  ]);
  const marks = Object.keys(parked?.state.subjects ?? {}).length;
  const states = [
    ticket &&
      (ticket.seq > (consumer?.delivered.stream_seq ?? 0) ? "waiting for a worker" : "owned by a worker"),
    marks > 0 && `parked (${marks} changes while it was owned)`,
    timer && `delayed (${timer.header?.get("Nats-Schedule").replace("@at ", "until ")})`,
    letter && letterText(letter),
  ];
  return stateLine(scope, key, states);
}

/** The same with the rights of the bus's operator, who cannot read marks. */
export async function listedKeyState(bus: Bus, scope: QueueScope, key: ObjectKey): Promise<string> {
  const [requests, letter] = await Promise.all([
    listRequests(bus, scope),
    deadLetters(bus, scope).get(key).catch(absent),
  ]);
  const states = requests
    .filter((request) => keyText(request.key) === keyText(key))
    .map(({ state, attempt, reason }) => `${state}${reason ? ` after ${attempt} attempts: ${reason}` : ""}`);
  return stateLine(scope, key, [...states, letter && letterText(letter)]);
}

type Letter = NonNullable<Awaited<ReturnType<ReturnType<typeof deadLetters>["get"]>>>;

const letterText = ({ reason, message, attempts }: Letter): string =>
  `dead letter: ${reason}: ${message} (${attempts} attempts)`;

function stateLine(scope: QueueScope, key: ObjectKey, states: readonly unknown[]): string {
  const known = states.filter((state) => typeof state === "string");
  return `${scope.fn} ${keyText(key)}: ${known.join("; ") || "no request: it waits for a change"}`;
}
