/**
 * What the bus has stored and does not deliver any more. A server that was killed brings back messages that it had taken
 * away: they were done with, and nobody is given them again. Seen with nats-server 2.15.2, hundreds at once after a
 * `kill -9` under load. A ticket among them would keep its key from ever being reconciled again, a mark or a timer would
 * never fall due, and what was due would stay for good. So every worker looks for them, and makes their requests anew.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readFrom } from "../nats/lastvalues.ts";
import { consumers, parseKeySubject, sweeps, timersStream, work, workStream } from "../subjects.ts";
import { deleteMessage } from "./deletemessage.ts";
import type { TicketQueue } from "./queue.ts";
import { requestOrReplay } from "./request.ts";

/** What the search needs. */
export interface StrandedOptions {
  readonly bus: Pick<Bus, "inbox" | "jsm">;
  readonly queue: TicketQueue;
  readonly signal: AbortSignal;
  /** Called for each that is found, after its request was made. */
  readonly onFound: (subject: string) => void;
  readonly onError: (error: unknown) => void;
  readonly clock?: Pick<BusClock, "now">;
  /** From one look to the next, in milliseconds; up to half of it less, so that replicas do not look at once. */
  readonly everyMillis?: number;
  /** What is found has to be found again after so long: it may have been on its way. Milliseconds. */
  readonly graceMillis?: number;
  /** Messages of a kind that are read at each look; where some are stranded, the next look follows at once. */
  readonly pageSize?: number;
}

/** A message that seems to be stranded, and where. */
interface Stranded {
  readonly stream: string;
  readonly value: LastValue;
}

/** Searches until the signal aborts. Each replica does, and two may find the same: the queue makes one request of both. */
export async function searchStranded({
  bus,
  queue,
  signal,
  onFound,
  onError,
  clock = machineClock,
  everyMillis = 10_000,
  graceMillis = 5000,
  pageSize: atOnce = 250,
}: StrandedOptions): Promise<void> {
  const { scope } = queue;
  const timers = timersStream(scope.fn);
  const tickets = workStream(scope.fn);

  /** Schedules whose time has come, among those behind `from`: they lie in no order. */
  async function overdue(from: number): Promise<{ found: Stranded[]; next: number }> {
    const page = await readFrom(bus, timers, { filter: work.scheduled(scope), from, limit: atOnce });
    const late = page.filter((value) => clock.now() - dueAt(value) > graceMillis);
    const next = page.length < atOnce ? 1 : (page.at(-1)?.sequence ?? 0) + 1;
    return { found: late.map((value) => ({ stream: timers, value })), next };
  }

  /**
   * What a consumer has left behind: it was acknowledged, and should be gone. Above the acknowledgement floor nobody can tell
   * that from what somebody has in hand; the floor rises as that is settled.
   */
  async function leftBehind(stream: string, consumer: string, filter: string): Promise<Stranded[]> {
    const { ack_floor: floor } = await bus.jsm.consumers.info(stream, consumer);
    const page = await readFrom(bus, stream, { filter, from: 1, limit: atOnce });
    return page.filter(({ sequence }) => sequence <= floor.stream_seq).map((value) => ({ stream, value }));
  }

  async function search(from: number): Promise<{ found: Stranded[]; next: number }> {
    const [{ found, next }, ...rest] = await Promise.all([
      overdue(from),
      leftBehind(tickets, consumers.worker(scope), work.tickets(scope)),
      leftBehind(timers, consumers.relay(scope), work.due(scope)),
    ]);
    return { found: [...found, ...rest.flat()], next };
  }

  async function request({ stream, value }: Stranded): Promise<void> {
    // The next sweep is planned already.
    if (value.subject === sweeps.due(scope)) return deleteMessage(bus, stream, value.sequence);
    try {
      const { key } = parseKeySubject(value.subject);
      // A ticket is in its own way: the request leaves a mark, which falls due when the ticket is gone.
      await queue.request(key, requestOrReplay(value.string()), signal);
      onFound(value.subject);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Nobody's key: there is nothing to reconcile.
      onError(error);
    }
    // After the request and not before: who dies in between leaves it to the next who looks.
    await deleteMessage(bus, stream, value.sequence);
  }

  for (let from = 1; ; ) {
    try {
      await sleep(everyMillis * (1 - Math.random() / 2), undefined, { signal });
      for (;;) {
        const { found, next } = await search(from);
        if (found.length === 0) {
          from = next;
          break;
        }
        await sleep(graceMillis, undefined, { signal });
        const again = new Set((await search(from)).found.map(nameOf));
        await Promise.all(found.filter((one) => again.has(nameOf(one))).map(request));
      }
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
    }
  }
}

const nameOf = ({ stream, value }: Stranded): string => `${stream} ${value.sequence}`;

/** When a message falls due, in milliseconds since the epoch. A message without a schedule was due when it was stored. */
function dueAt({ headers }: LastValue): number {
  const at = /^@at (.+)$/.exec(headers?.get("Nats-Schedule") ?? "")?.[1] ?? headers?.get("Nats-Time-Stamp");
  return Date.parse(at ?? "");
}
