/**
 * Ownership of tickets. The server redelivers a ticket when AckWait passes without an extension. A worker must stop before that,
 * so it keeps its own, earlier deadline per ticket.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Delivery } from "../nats/delivery.ts";
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

/** The state of an owned ticket. */
interface HeldTicket {
  readonly delivery: Delivery;
  deadline: number;
  extended: number;
  busy: boolean;
  lose(why: string): void;
}

/** Ownership ends this long before the server may redeliver the ticket. Milliseconds. */
const marginMillis = 1000;
/**
 * An event loop that did not turn for this long was paused or starved, and a ticket in its buffers may be that old. Less than the
 * margin, so that a ticket's age is never underestimated by more than the margin. Milliseconds.
 */
const stallMillis = 750;
const tickMillis = 250;

/**
 * Starts to extend tickets, four times per AckWait. A ticket is lost when its extension is not confirmed in time. All tickets are
 * lost when the connection breaks: a restarted server may deliver them to other workers at once.
 *
 * Under a debugger a keeper also extends them, and only the keeper's connection matters: the server may drop the connection of
 * this process while it is stopped.
 */
export function keepOwnership(nc: NatsConnection, ackWaitMillis: number, keeper?: Keeper): Ownership {
  const held = new Set<HeldTicket>();
  const ownMillis = ackWaitMillis - marginMillis;
  let lastTick = performance.now();
  let fenced = false;
  const staleCallbacks: ((doubt: Staleness) => void)[] = [];
  const doubt = (why: Staleness) => {
    for (const callback of staleCallbacks) callback(why);
  };

  /** After a pause: messages that arrive before the server answers a ping may have been delivered before the pause. */
  async function fence(): Promise<void> {
    fenced = true;
    await nc.flush().catch(() => undefined);
    doubt("paused");
    fenced = false;
  }

  const stalled = (): boolean => performance.now() - lastTick > stallMillis;

  function loseAll(): void {
    for (const ticket of held) ticket.lose("the connection to the bus broke");
  }

  /** Applies the extensions that the keeper made while this process may have been stopped. */
  function applyKeeperEvents(): void {
    for (const event of keeper?.events() ?? []) {
      if (event === "disconnected") {
        doubt("disconnected");
        loseAll();
      } else
        for (const ticket of held) if (ticket.delivery.reply === event.reply) confirmed(ticket, event.sent);
    }
  }

  const timer = setInterval(() => {
    applyKeeperEvents();
    if (stalled()) void fence();
    lastTick = performance.now();
    for (const ticket of held) {
      if (lastTick >= ticket.deadline) ticket.lose(`no extension was confirmed for ${ownMillis} ms`);
      else if (!ticket.busy && lastTick - ticket.extended > ackWaitMillis / 4) void extend(ticket);
    }
  }, tickMillis);
  timer.unref();

  /** An extension that was sent after the deadline does not count: the ticket may already belong to another worker. */
  function confirmed(ticket: HeldTicket, sent: number): void {
    if (sent >= ticket.deadline) return;
    ticket.extended = sent;
    ticket.deadline = Math.max(ticket.deadline, sent + ownMillis);
  }

  async function extend(ticket: HeldTicket): Promise<void> {
    const sent = performance.now();
    ticket.busy = true;
    try {
      await ticket.delivery.extend();
      confirmed(ticket, sent);
    } catch {
      // Retried at the next tick; the deadline decides.
    } finally {
      ticket.busy = false;
    }
  }

  void (async () => {
    for await (const status of nc.status()) {
      if (status.type !== "disconnect") continue;
      // With a keeper the tickets remain owned, and this process's own announcements stay valid.
      const isKept = keeper !== undefined && !keeper.isGone;
      doubt(isKept ? "paused" : "disconnected");
      if (!isKept) loseAll();
    }
  })();

  return {
    get size() {
      return held.size;
    },
    take(delivery) {
      if (fenced || stalled()) return undefined;
      const controller = new AbortController();
      const ticket: HeldTicket = {
        delivery,
        deadline: delivery.arrived + ownMillis,
        extended: delivery.arrived,
        busy: false,
        lose(why) {
          release();
          ticket.deadline = 0;
          controller.abort(new OwnershipLostError(`this worker no longer owns the object: ${why}`));
        },
      };
      const release = (): void => {
        held.delete(ticket);
        keeper?.drop(delivery.reply);
      };
      held.add(ticket);
      keeper?.keep(delivery.reply);
      return {
        delivery,
        lost: controller.signal,
        assertOwned() {
          applyKeeperEvents();
          // Checked here too, not only by the timer: after a pause, code may run before any timer.
          if (performance.now() >= ticket.deadline && !controller.signal.aborted) {
            ticket.lose("its deadline has passed");
          }
          controller.signal.throwIfAborted();
        },
        ownedMillis() {
          applyKeeperEvents();
          return Math.max(0, ticket.deadline - performance.now());
        },
        release,
      };
    },
    onStale: (callback) => staleCallbacks.push(callback),
    loseAllOf(stream, why) {
      for (const ticket of held) if (ticket.delivery.stream === stream) ticket.lose(why);
    },
    stop() {
      clearInterval(timer);
      keeper?.stop();
    },
  };
}
