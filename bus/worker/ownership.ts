/**
 * Ownership of tickets. The server redelivers a ticket when AckWait passes without an extension. A worker must stop before that,
 * so it keeps its own, earlier deadline per ticket.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Delivery } from "../nats/delivery.ts";
import { onBeat } from "../values/eventloop.ts";
import { OwnershipLostError } from "./errors.ts";
import type { Keeper } from "./keeper.ts";

/** A ticket that this worker owns. */
export interface Ticket {
  readonly delivery: Delivery;
  /** Aborts with an {@link OwnershipLostError} when the ticket is lost. */
  readonly lost: AbortSignal;
  /** Throws an {@link OwnershipLostError} unless this worker still owns the ticket. */
  assertOwned(): void;
  /** How long this worker certainly owns the ticket without another extension. Milliseconds. */
  ownedMillis(): number;
  /** Stops extending the ticket. */
  release(): void;
}

/** Why this process's knowledge may be stale. */
export type Staleness = "paused" | "disconnected";

/** Extends the tickets of a worker process. */
export interface Ownership {
  /** Takes a delivered ticket; undefined if it may have been delivered before a pause of this process. */
  take(delivery: Delivery): Ticket | undefined;
  /** Number of owned tickets. */
  readonly size: number;
  /** Calls back after a pause of this process or a lost connection: earlier messages may be out of date. */
  onStale(callback: (markStale: Staleness) => void): void;
  /** Loses the tickets of a stream: the bus no longer knows who owns them. */
  loseAllOf(stream: string, why: string): void;
  stop(): void;
}

/** Ownership ends this long before the server may redeliver the ticket. Milliseconds. */
const marginMillis = 1000;
/**
 * An event loop that did not turn for this long was paused or starved, and a ticket in its buffers may be that old. Less than the
 * margin, so that a ticket's age is never underestimated by more than the margin. Milliseconds.
 */
const stallMillis = 750;

/**
 * Starts to extend tickets, four times per AckWait. A ticket is lost when its extension is not confirmed in time. All tickets are
 * lost when the connection breaks: a restarted server may deliver them to other workers at once.
 *
 * Under a debugger a keeper also extends them, and only the keeper's connection matters: the server may drop the connection of
 * this process while it is stopped.
 */
export const keepOwnership = (nc: NatsConnection, ackWaitMillis: number, keeper?: Keeper): Ownership =>
  new OwnedTickets(nc, ackWaitMillis, keeper);

/** A ticket that this worker owns, with its deadline. Times are milliseconds of `performance.now()`. */
class OwnedTicket implements Ticket {
  readonly delivery: Delivery;
  deadline: number;
  /** When the last confirmed extension was sent. */
  extended: number;
  /** An extension is in flight. */
  isExtending = false;
  readonly #tickets: OwnedTickets;
  readonly #controller = new AbortController();

  constructor(tickets: OwnedTickets, delivery: Delivery) {
    this.#tickets = tickets;
    this.delivery = delivery;
    this.deadline = delivery.arrived + tickets.ownMillis;
    this.extended = delivery.arrived;
  }

  get lost(): AbortSignal {
    return this.#controller.signal;
  }

  assertOwned(): void {
    this.#tickets.applyKeeperEvents();
    // Checked here too, not only by the timer: after a pause, code may run before any timer.
    if (performance.now() >= this.deadline && !this.lost.aborted) this.lose("its deadline has passed");
    this.lost.throwIfAborted();
  }

  ownedMillis(): number {
    this.#tickets.applyKeeperEvents();
    return Math.max(0, this.deadline - performance.now());
  }

  release(): void {
    this.#tickets.remove(this);
  }

  lose(why: string): void {
    this.release();
    this.deadline = 0;
    this.#controller.abort(new OwnershipLostError(`this worker no longer owns the object: ${why}`));
  }

  /** Records an extension. One sent after the deadline does not count: the ticket may already belong to another worker. */
  confirm(sent: number): void {
    if (sent >= this.deadline) return;
    this.extended = sent;
    this.deadline = Math.max(this.deadline, sent + this.#tickets.ownMillis);
  }
}

class OwnedTickets implements Ownership {
  /** How long a ticket is owned after its delivery or last extension. */
  readonly ownMillis: number;
  readonly #nc: NatsConnection;
  readonly #ackWaitMillis: number;
  readonly #keeper: Keeper | undefined;
  readonly #owned = new Set<OwnedTicket>();
  readonly #staleCallbacks: ((staleness: Staleness) => void)[] = [];
  readonly #stopTicking: () => void;
  #lastTick = performance.now();
  /** Tickets that arrive now may have been delivered before a pause. */
  #isFenced = false;

  constructor(nc: NatsConnection, ackWaitMillis: number, keeper: Keeper | undefined) {
    this.ownMillis = ackWaitMillis - marginMillis;
    this.#nc = nc;
    this.#ackWaitMillis = ackWaitMillis;
    this.#keeper = keeper;
    this.#stopTicking = onBeat(() => this.#tick());
    void this.#watchConnection();
  }

  get size(): number {
    return this.#owned.size;
  }

  take(delivery: Delivery): Ticket | undefined {
    if (this.#isFenced || this.#isStalled()) return undefined;
    const ticket = new OwnedTicket(this, delivery);
    this.#owned.add(ticket);
    this.#keeper?.keep(delivery.reply);
    return ticket;
  }

  onStale(callback: (staleness: Staleness) => void): void {
    this.#staleCallbacks.push(callback);
  }

  loseAllOf(stream: string, why: string): void {
    for (const ticket of this.#owned) if (ticket.delivery.stream === stream) ticket.lose(why);
  }

  stop(): void {
    this.#stopTicking();
    this.#keeper?.stop();
  }

  remove(ticket: OwnedTicket): void {
    this.#owned.delete(ticket);
    this.#keeper?.drop(ticket.delivery.reply);
  }

  /** Applies the extensions that the keeper made while this process may have been stopped. */
  applyKeeperEvents(): void {
    for (const event of this.#keeper?.events() ?? []) {
      if (event === "disconnected") {
        this.#markStale("disconnected");
        this.#loseAll();
      } else
        for (const ticket of this.#owned)
          if (ticket.delivery.reply === event.reply) ticket.confirm(event.sent);
    }
  }

  #tick(): void {
    this.applyKeeperEvents();
    if (this.#isStalled()) void this.#fence();
    this.#lastTick = performance.now();
    for (const ticket of this.#owned) {
      if (this.#lastTick >= ticket.deadline)
        ticket.lose(`no extension was confirmed for ${this.ownMillis} ms`);
      else if (!ticket.isExtending && this.#lastTick - ticket.extended > this.#ackWaitMillis / 4)
        void extend(ticket);
    }
  }

  #isStalled(): boolean {
    return performance.now() - this.#lastTick > stallMillis;
  }

  /** After a pause: messages that arrive before the server answers a ping may have been delivered before the pause. */
  async #fence(): Promise<void> {
    this.#isFenced = true;
    await this.#nc.flush().catch(() => undefined);
    this.#markStale("paused");
    this.#isFenced = false;
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.#nc.status()) {
      if (status.type !== "disconnect") continue;
      // With a keeper the tickets remain owned, and this process's own announcements stay valid.
      const isKept = this.#keeper !== undefined && !this.#keeper.isGone;
      this.#markStale(isKept ? "paused" : "disconnected");
      if (!isKept) this.#loseAll();
    }
  }

  #markStale(staleness: Staleness): void {
    for (const callback of this.#staleCallbacks) callback(staleness);
  }

  #loseAll(): void {
    for (const ticket of this.#owned) ticket.lose("the connection to the bus broke");
  }
}

async function extend(ticket: OwnedTicket): Promise<void> {
  const sent = performance.now();
  ticket.isExtending = true;
  try {
    await ticket.delivery.extend();
    ticket.confirm(sent);
  } catch {
    // Retried at the next tick; the deadline decides.
  } finally {
    ticket.isExtending = false;
  }
}
