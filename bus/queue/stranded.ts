/**
 * Stranded messages: stored on the bus, but never delivered. A killed server can bring back messages that were already
 * acknowledged and deleted, and does not deliver them again. Seen with nats-server 2.15.2: hundreds at once after a `kill -9`
 * under load. A stranded ticket would keep its key from ever being reconciled again, and a stranded mark or timer would never
 * fall due. So every worker searches for such messages and requests a reconcile for each.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readFrom } from "../nats/lastvalues.ts";
import { consumers, parseKeySubject, sweeps, timersStream, work, workStream } from "../subjects.ts";
import { turnEnd, untilShared } from "../values/eventloop.ts";
import { deleteMessage } from "./deletemessage.ts";
import type { TicketQueue } from "./queue.ts";
import { requestOrReplay } from "./request.ts";

/** Options of the search. */
export interface StrandedOptions {
  readonly bus: Pick<Bus, "inbox" | "jsm">;
  readonly queue: TicketQueue;
  readonly signal: AbortSignal;
  /** Called for each stranded message, after its request was made. */
  readonly onFound: (subject: string) => void;
  readonly onError: (error: unknown) => void;
  readonly clock?: Pick<BusClock, "now">;
  /** Interval of the searches, in milliseconds. All functions of a process search at the same time. */
  readonly everyMillis?: number;
  /** A message counts as stranded only if it is still there after this time: before, it may be in flight. Milliseconds. */
  readonly graceMillis?: number;
  /** Messages of each type that one search reads; if some are stranded, the next search follows at once. */
  readonly pageSize?: number;
}

/** The requests of searches that begin in one turn leave in one socket write. */
const together = turnEnd();

/** A message that seems to be stranded, and its stream. */
interface Stranded {
  readonly stream: string;
  readonly value: LastValue;
}

/** Searches until the signal aborts. Two replicas may find the same message; the queue coalesces their requests. */
export async function searchStranded({
  bus,
  queue,
  signal,
  onFound,
  onError,
  clock = machineClock,
  everyMillis = 8000,
  graceMillis = 5000,
  pageSize: atOnce = 250,
}: StrandedOptions): Promise<void> {
  const { scope } = queue;
  const timers = timersStream(scope.fn);
  const tickets = workStream(scope.fn);

  /** Overdue schedules in the page from `from` on. Schedules are not ordered by time. */
  async function overdue(from: number): Promise<{ found: Stranded[]; next: number }> {
    const page = await readFrom(bus, timers, { filter: work.scheduled(scope), from, limit: atOnce });
    const late = page.filter((value) => clock.now() - dueAt(value) > graceMillis);
    const next = page.length < atOnce ? 1 : (page.at(-1)?.sequence ?? 0) + 1;
    return { found: late.map((value) => ({ stream: timers, value })), next };
  }

  /**
   * Messages that were acknowledged but still exist. Above the acknowledgement floor they cannot be distinguished from messages
   * in flight; the floor rises as those are acknowledged.
   */
  async function leftBehind(stream: string, consumer: string, filter: string): Promise<Stranded[]> {
    // Usually nothing waits, and the consumer need not be asked.
    if ((await readFrom(bus, stream, { filter, from: 1, limit: 1 })).length === 0) return [];
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
    // The next sweep is already scheduled.
    if (value.subject === sweeps.due(scope)) return deleteMessage(bus, stream, value.sequence);
    try {
      const { key } = parseKeySubject(value.subject);
      // A stranded ticket blocks its own key: the request leaves a mark, which falls due after the ticket is deleted.
      await queue.request(key, requestOrReplay(value.string()), signal);
      onFound(value.subject);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The subject names no object: nothing to reconcile.
      onError(error);
    }
    // After the request: if this process dies in between, the next search finds the message again.
    await deleteMessage(bus, stream, value.sequence);
  }

  for (let from = 1; ; ) {
    try {
      await sleep(untilShared(everyMillis), undefined, { signal });
      await together();
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
