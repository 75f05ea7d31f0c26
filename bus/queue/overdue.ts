/**
 * Schedules that did not fire, though their time has come. The server notes which schedules it has under way, and one whose
 * message is lost between the note and the stream stays where it is: seen, rarely, with nats-server 2.15.2 on three servers
 * that were killed one by one. So every worker looks now and then, and makes the request that such a schedule stands for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../connect.ts";
import { type LastValue, readFrom } from "../lastvalues.ts";
import { parseKeySubject, timersStream, work } from "../subjects.ts";
import { forget } from "./forget.ts";
import type { TicketQueue } from "./queue.ts";
import { requestOrReplay } from "./request.ts";

/** What the search needs. */
export interface OverdueOptions {
  readonly bus: Pick<Bus, "inbox">;
  readonly queue: TicketQueue;
  readonly signal: AbortSignal;
  /** Called for each that is found, after its request was made. */
  readonly onFound: (subject: string, overdueMillis: number) => void;
  readonly onError: (error: unknown) => void;
  /** From one look to the next, in milliseconds; up to half of it less, so that replicas do not look at once. */
  readonly everyMillis?: number;
  /** What was due so long ago, and stays for as long again while somebody looks, does not fire any more. Milliseconds. */
  readonly graceMillis?: number;
  /** Messages read at each look; the next one goes on behind them, and begins again after the last. */
  readonly atOnce?: number;
}

/** Searches until the signal aborts. Each replica does, and two may find the same: the queue makes one of both. */
export async function searchOverdue({
  bus,
  queue,
  signal,
  onFound,
  onError,
  everyMillis = 30_000,
  graceMillis = 10_000,
  atOnce = 500,
}: OverdueOptions): Promise<void> {
  const { scope } = queue;
  const filter = work.scheduled(scope);
  let from = 1;

  const read = (): Promise<readonly LastValue[]> =>
    readFrom(bus, timersStream(scope.fn), { filter, from, limit: atOnce });

  async function look(): Promise<void> {
    const page = await read();
    const late = new Set(page.filter((value) => overdue(value) > graceMillis).map(sequenceOf));
    if (late.size > 0) {
      // After an outage everything is late, and fires at once.
      await sleep(graceMillis, undefined, { signal });
      for (const value of await read()) if (late.has(value.sequence)) await request(value);
    }
    from = page.length < atOnce ? 1 : (page.at(-1)?.sequence ?? 0) + 1;
  }

  async function request(value: LastValue): Promise<void> {
    try {
      const { key } = parseKeySubject(value.subject);
      await queue.request(key, requestOrReplay(value.string()), signal);
      onFound(value.subject, overdue(value));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Nobody's key: there is nothing to reconcile.
      onError(error);
    }
    // After the request and not before: who dies in between leaves it to the next who looks.
    await forget(bus, scope.fn, value.sequence);
  }

  while (!signal.aborted) {
    try {
      await sleep(everyMillis * (1 - Math.random() / 2), undefined, { signal });
      await look();
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }
}

const sequenceOf = ({ sequence }: LastValue): number => sequence;

/** For how long a message has been due, in milliseconds: below 0 when it is not. What says no time was due when it was stored. */
function overdue({ headers }: LastValue): number {
  const at = /^@at (.+)$/.exec(headers?.get("Nats-Schedule") ?? "")?.[1] ?? headers?.get("Nats-Time-Stamp");
  return Date.now() - Date.parse(at ?? "");
}
