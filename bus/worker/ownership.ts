/**
 * Who owns what, and until when. The server takes a ticket away when AckWait passes without a sign of life; a worker
 * must know that before the server does, so it keeps a deadline of its own per ticket and gives up early.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Delivery } from "../nats/delivery.ts";
import { OwnershipLostError } from "./errors.ts";
import type { Keeper } from "./keeper.ts";

/** One ticket in this worker's hands. */
export interface Ticket {
  readonly delivery: Delivery;
  /** Aborts with an {@link OwnershipLostError} when the ticket is lost. */
  readonly lost: AbortSignal;
  /** Throws an {@link OwnershipLostError} unless this worker owns the ticket at this moment. */
  assertOwned(): void;
  /** How long this worker certainly owns the ticket, if no sign of life reaches the bus any more. Milliseconds. */
  ownedMillis(): number;
  /** Stops keeping the ticket. */
  release(): void;
}

/** Why what this process knows may not be true any more. */
export type Staleness = "paused" | "disconnected";

/** Keeps the tickets of a worker process alive. */
export interface Ownership {
  /** Takes a delivered ticket, or undefined when it may have been delivered long ago to a process that was paused. */
  take(delivery: Delivery): Ticket | undefined;
  /** Tickets in hand. */
  readonly size: number;
  /** Calls back when this process was paused or its connection broke: what it heard before may be out of date. */
  onStale(callback: (markStale: Staleness) => void): void;
  /** Loses the tickets of a stream: the bus no longer knows who has them. */
  loseAllOf(stream: string, why: string): void;
  stop(): void;
}

/** A ticket, as it is kept. */
interface HeldTicket {
  readonly delivery: Delivery;
  deadline: number;
  extended: number;
  busy: boolean;
  lose(why: string): void;
}

/** Ownership is given up so long before the server may take it away. Milliseconds. */
const marginMillis = 1000;
/**
 * An event loop that did not turn for so long was paused or starved, and a ticket that it finds in its buffers may have been
 * delivered as long ago: below the margin, so that a ticket's age is never underestimated by more than that.
 */
const stallMillis = 750;
const tickMillis = 250;

/**
 * Keeps tickets: each is extended four times per AckWait. Given up is a ticket whose extension was not confirmed in
 * time, and every ticket when the connection breaks: a restarted server may deliver it to another worker at once.
 *
 * Under a debugger a keeper extends them as well, and the connection that counts is the keeper's: this process's own may be
 * dropped by a server that gets no answer from it.
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

  /** After a pause: what arrives before the server answers a ping may have been delivered before the pause. */
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

  /** Hears what the keeper did while this process may have been stopped. */
  function applyKeeperEvents(): void {
    for (const news of keeper?.news() ?? []) {
      if (news === "disconnected") {
        doubt("disconnected");
        loseAll();
      } else
        for (const ticket of held) if (ticket.delivery.reply === news.reply) confirmed(ticket, news.sent);
    }
  }

  const timer = setInterval(() => {
    applyKeeperEvents();
    if (stalled()) void fence();
    lastTick = performance.now();
    for (const ticket of held) {
      if (lastTick >= ticket.deadline) ticket.lose(`no sign of life reached the bus for ${ownMillis} ms`);
      else if (!ticket.busy && lastTick - ticket.extended > ackWaitMillis / 4) void extend(ticket);
    }
  }, tickMillis);
  timer.unref();

  /** A sign of life that was sent too late proves nothing: by then the ticket may have been somebody else's. */
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
      // Tried again at the next tick; the deadline decides.
    } finally {
      ticket.busy = false;
    }
  }

  void (async () => {
    for await (const status of nc.status()) {
      if (status.type !== "disconnect") continue;
      // With a keeper the tickets go on, and what this process has said of them itself is true.
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
          // Compared here and not left to the timer: after a pause, code may run before any timer does.
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
