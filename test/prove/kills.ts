/** Kills of workers under load: what a killed worker leaves in flight, and which waits that explains. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../bus/nats/connect.ts";
import { lastValuesOf } from "../../bus/nats/lastvalues.ts";
import { consumers, parseKeySubject, streams, timersStream, work, workStream } from "../../bus/subjects.ts";
import type { Child } from "../../deploy/local/index.ts";
import { now } from "../harness/now.ts";
import type { TrialEnvironment } from "./environment.ts";
import { anyOf, type Injected } from "./faults.ts";
import type { Begun } from "./journal.ts";
import { scope, subscription } from "./replica.ts";
import type { Trial } from "./scenario.ts";
import type { Record } from "./verify.ts";
import type { Wait } from "./waits.ts";

/** Allowed on top of AckWait for the dead worker's in-flight keys. */
export const marginMillis = 1000;
/** Normal operation before each kill, for comparison. */
const calmMillis = 2500;
/** Much longer than a reconcile takes here, much shorter than AckWait. */
const ticketMillis = 300;

/** What a killed worker had in flight. */
interface InFlight {
  /** When the tickets were polled for the second time. Milliseconds of the machine's clock. */
  readonly polledAt: number;
  /** Keys whose ticket was delivered before the worker's end, and still not acknowledged at the second poll. */
  readonly tickets: readonly string[];
  /** Events and due requests that were delivered, never acknowledged, and not replaced by a later version. */
  readonly unanswered: number;
  /** The server redelivers such an event after this time, in milliseconds. */
  readonly routeMillis: number;
}

/** A kill of a worker. */
export interface Kill extends Injected, InFlight {
  /** When the worker's process ended. */
  readonly gone: number;
}

/** Kills random workers repeatedly, and restarts each after the time that its keys may wait. */
export async function killUnderLoad(
  trial: Trial,
  { bus }: TrialEnvironment,
  workers: readonly Child[],
  { kills, ackWaitMillis }: { readonly kills: number; readonly ackWaitMillis: number },
): Promise<Kill[]> {
  const { next, say, signal } = trial;
  const pick = anyOf(workers, next);
  const injected: Kill[] = [];
  for (let at = 1; at <= kills; at++) {
    await sleep(calmMillis + 500 * next(), undefined, { signal });
    const victim = pick();
    say(`kill ${at} of ${kills}: ${victim.name}`);
    const from = now();
    await victim.stop("SIGKILL");
    const gone = now();
    const inFlight = await inFlightAfterKill(bus);
    await sleep(gone + ackWaitMillis + marginMillis - now(), undefined, { signal });
    injected.push({ name: "kill -9 of a worker", victim: victim.name, from, to: now(), gone, ...inFlight });
    await victim.start();
  }
  return injected;
}

/** Reads from the bus, right after the kill, what was delivered and not acknowledged. */
async function inFlightAfterKill(bus: Bus): Promise<InFlight> {
  const tickets = await unansweredTickets(bus);
  const polledAt = now();
  return { polledAt, tickets, ...(await unansweredEvents(bus)) };
}

async function unansweredTickets(bus: Bus): Promise<string[]> {
  const readTickets = lastValuesOf(bus, workStream(scope.fn));
  const { delivered } = await bus.jsm.consumers.info(workStream(scope.fn), consumers.worker(scope));
  const before = await readTickets(work.tickets(scope));
  const old = new Set(
    before.map(({ sequence }) => sequence).filter((sequence) => sequence <= delivered.stream_seq),
  );
  await sleep(ticketMillis);
  return (await readTickets(work.tickets(scope)))
    .filter(({ sequence }) => old.has(sequence))
    .map(({ subject }) => parseKeySubject(subject).key.name);
}

/** The living workers always have some in flight, so the lowest of several counts is the dead worker's. */
async function unansweredEvents({ jsm }: Bus): Promise<Pick<InFlight, "unanswered" | "routeMillis">> {
  let unanswered = Number.POSITIVE_INFINITY;
  let routeMillis = Number.POSITIVE_INFINITY;
  for (let polls = 0; polls < 20; polls++) {
    const [router, relay] = await Promise.all([
      jsm.consumers.info(streams.objects, consumers.router(subscription)),
      jsm.consumers.info(timersStream(scope.fn), consumers.relay(scope)),
    ]);
    unanswered = Math.min(unanswered, router.num_ack_pending + relay.num_ack_pending);
    routeMillis = (router.config.ack_wait ?? 0) / 1e6;
    await sleep(20);
  }
  return { unanswered, routeMillis };
}

/** The waits around a kill, by cause. */
export interface Round {
  /** Ended before the kill. */
  readonly calm: readonly Wait[];
  /** Of keys that the dead worker had in flight. */
  readonly own: readonly Wait[];
  /** Those of them that waited for an event that it was routing. */
  readonly routed: readonly Wait[];
  readonly others: readonly Wait[];
  /** Reconciles that the kill interrupted although the dead worker had no ticket of the key. */
  readonly unexplained: number;
}

/** Separates the waits around a kill by cause. */
export function separate(kill: Kill, record: Record, waits: readonly Wait[]): Round {
  const { from, gone, to, victim } = kill;
  const around = waits.filter(({ at, millis }) => at < to && at + millis > from - calmMillis);
  const after = around.filter(({ at, millis }) => at + millis > from);
  const isEnded = endedIn(record);
  const ownKeys = ownKeysOf(kill, record, isEnded);
  const unfinished = record.begun.filter(
    (begun) => begun.replica === victim && begun.from < gone && begun.from > from - 1000 && !isEnded(begun),
  );
  // The events that it was routing are unknown, but their maximum number and minimum wait are known.
  const mayBeRouted = ({ at, millis }: Wait): boolean => at <= gone && millis >= kill.routeMillis;
  const rest = after.filter(({ key }) => !ownKeys.has(key)).toSorted((a, b) => b.millis - a.millis);
  const routed = rest.filter(mayBeRouted).slice(0, kill.unanswered);
  return {
    calm: around.filter(({ at, millis }) => at + millis <= from),
    own: after.filter(({ key }) => ownKeys.has(key)).concat(routed),
    routed,
    others: rest.filter((wait) => !routed.includes(wait)),
    unexplained: unfinished.filter(({ key }) => !ownKeys.has(key)).length,
  };
}

/** Whether a reconcile had its effect. */
function endedIn({ effects }: Record): (begun: Begun) => boolean {
  const idOf = ({ replica, key, from }: Begun): string => `${replica} ${key} ${from}`;
  const ended = new Set(effects.map(idOf));
  return (begun) => ended.has(idOf(begun));
}

/** The keys of the dead worker's tickets. If a living worker has started the ticket since, the kill did not cause the key's pause. */
function ownKeysOf(
  { tickets, victim, gone, polledAt }: Kill,
  { begun }: Record,
  isEnded: (begun: Begun) => boolean,
): ReadonlySet<string> {
  const lastBegun = new Map<string, Begun>();
  for (const one of begun) {
    if (one.from < polledAt && one.from > (lastBegun.get(one.key)?.from ?? 0)) lastBegun.set(one.key, one);
  }
  return new Set(
    tickets.filter((key) => {
      const last = lastBegun.get(key);
      return last === undefined || last.replica === victim || (last.from < gone && isEnded(last));
    }),
  );
}
