/**
 * Pulls from a durable consumer exactly as many messages as there are free slots: AckWait runs from delivery, so a buffered
 * message would already use up its time.
 *
 * Pull requests expire within seconds, those of a process together. A graceful stop waits for the open ones to expire and hands back messages that still
 * arrive, so no message has to wait for a redelivery by timeout.
 * Wire format: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-13.md
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import type { Bus } from "../nats/connect.ts";
import { type Delivery, deliveryOf, sendAcknowledgements } from "../nats/delivery.ts";
import { atTurnEnd, onBeat, untilShared } from "../values/eventloop.ts";

/** Options of a pull. */
export interface PullOptions {
  readonly bus: Pick<Bus, "nc" | "inbox">;
  readonly stream: string;
  readonly consumer: string;
  /** Messages handled at once. */
  readonly slots: number;
  /** Handles one message and acknowledges it. Must not throw; the slot is free when the promise settles. */
  readonly handle: (delivery: Delivery) => Promise<void>;
  /** Called each time the server refuses a pull request, for logs. */
  readonly onRefused?: (refusal: PullRefusal) => void;
}

/** The server refuses pull requests: the consumer is missing, paused, or has no leader. */
export interface PullRefusal {
  readonly code: number;
  readonly description: string;
  /** Refusals in a row. */
  readonly times: number;
  /** When the first of them arrived, by `performance.now()`. */
  readonly since: number;
}

/** A running pull. */
export interface Pull {
  /** Messages being handled. */
  readonly busy: number;
  /** Why the server refuses this pull; undefined while it serves it. */
  readonly refusal: PullRefusal | undefined;
  /** Sends no more pull requests, hands back messages that still arrive, and waits until every slot is free. */
  stop(): Promise<void>;
}

/** When idle, all pulls of a process are renewed in the same turn: one socket write each time instead of one for each pull. Milliseconds. */
const renewMillis = 2000;
/** How long after its expiry an unanswered pull request counts as lost. Milliseconds. */
const graceMillis = 1000;
/** Pause after a refusal, doubled each time. Milliseconds. */
const refusedPause = { firstMillis: 250, longestMillis: 2000 };

/** Pulls whose slots became free in this turn of the event loop. Their pull requests leave in one socket write. */
const planned = new Set<RunningPull>();
const requestPlanned = atTurnEnd(() => {
  const now = [...planned];
  planned.clear();
  for (const pull of now) pull.request();
});

/** Starts pulling. */
export const startPull = (options: PullOptions): Pull => new RunningPull(options);

class RunningPull implements Pull {
  readonly #options: PullOptions;
  readonly #inbox: string;
  readonly #next: string;
  /** Messages that open pull requests may still deliver. A message does not name its pull request, so only the sum is known. */
  #open = 0;
  /** Open pull requests by id, with the time (of `performance.now()`) after which they count as lost. */
  readonly #requests = new Map<string, { batch: number; until: number }>();
  #nextId = 0;
  #busy = 0;
  #state: "running" | "pausing" | "stopping" = "running";
  #idle: (() => void) | undefined;
  #refusal: PullRefusal | undefined;
  readonly #unsubscribe: () => void;

  constructor(options: PullOptions) {
    const { bus, stream, consumer } = options;
    this.#options = options;
    this.#inbox = bus.inbox.create();
    this.#next = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    const subscription = bus.nc.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else this.#refused(403, error.message);
      },
    });
    const unsubscribeDenials = bus.inbox.onDenied(this.#next, ({ message }) => this.#denied(message));
    const unwatch = onBeat(() => this.#watch());
    this.#unsubscribe = () => {
      unwatch();
      unsubscribeDenials();
      subscription.unsubscribe();
    };
    this.#plan();
  }

  get busy(): number {
    return this.#busy;
  }

  get refusal(): PullRefusal | undefined {
    return this.#refusal;
  }

  async stop(): Promise<void> {
    const { nc } = this.#options.bus;
    this.#state = "stopping";
    await new Promise<void>((resolve) => {
      this.#idle = () => {
        if (this.#busy === 0 && (this.#open === 0 || nc.isClosed())) resolve();
      };
      this.#idle();
    });
    this.#unsubscribe();
    sendAcknowledgements();
    // When the server answers this ping, it has received the hand-backs.
    if (!nc.isClosed()) await nc.flush().catch(() => undefined);
  }

  #plan(): void {
    if (this.#state !== "running") return;
    planned.add(this);
    requestPlanned();
  }

  /** Sends one pull request for all free slots. */
  request(): void {
    const { bus, slots } = this.#options;
    if (this.#state !== "running" || bus.nc.isClosed()) return;
    const batch = slots - this.#busy - this.#open;
    // While more is open than became free, wait: a few large pull requests are cheaper than many small ones.
    if (batch <= 0 || batch < this.#open) return;
    const id = String(this.#nextId++);
    this.#open += batch;
    const expiresMillis = untilShared(renewMillis);
    this.#requests.set(id, { batch, until: performance.now() + expiresMillis + graceMillis });
    bus.nc.publish(this.#next, JSON.stringify({ batch, expires: expiresMillis * 1e6 }), {
      reply: `${this.#inbox}.${id}`,
    });
  }

  #receive(message: Msg): void {
    // Status messages arrive on the inbox; messages of the stream keep the subject they were stored under.
    if (message.subject.startsWith(this.#inbox)) {
      const code = message.headers?.code ?? 0;
      if (code !== 0 && code !== 100) this.#ended(message, code);
      return;
    }
    this.#open = Math.max(0, this.#open - 1);
    this.#refusal = undefined;
    const delivery = deliveryOf(this.#options.bus, message);
    if (this.#state === "stopping") {
      delivery.handBack();
      this.#idle?.();
      return;
    }
    this.#busy++;
    this.#options.handle(delivery).then(this.#settle, this.#settle);
  }

  readonly #settle = (): void => {
    this.#busy--;
    if (this.#state === "stopping") this.#idle?.();
    else this.#plan();
  };

  /** The server ends a pull request and reports how many messages it did not deliver. */
  #ended(message: Msg, code: number): void {
    this.#requests.delete(message.subject.slice(this.#inbox.length + 1));
    this.#open = Math.max(0, this.#open - Number(message.headers?.get("Nats-Pending-Messages") || 0));
    if (this.#requests.size === 0) this.#open = 0;
    if (this.#state === "stopping") this.#idle?.();
    // 404 and 408: no messages, or expired. Any other code is a broken consumer: pause before the next request.
    else if (code === 404 || code === 408) {
      this.#refusal = undefined;
      this.#plan();
    } else {
      this.#refused(code, message.headers?.description ?? "");
      void this.#pause();
    }
  }

  /** The server denied a pull request, so it received none of them. */
  #denied(message: string): void {
    this.#requests.clear();
    this.#open = 0;
    this.#refused(403, message);
    if (this.#state === "stopping") this.#idle?.();
    else void this.#pause();
  }

  #refused(code: number, description: string): void {
    this.#refusal = {
      code,
      description,
      times: (this.#refusal?.times ?? 0) + 1,
      since: this.#refusal?.since ?? performance.now(),
    };
    this.#options.onRefused?.(this.#refusal);
  }

  async #pause(): Promise<void> {
    if (this.#state !== "running") return;
    this.#state = "pausing";
    const { firstMillis, longestMillis } = refusedPause;
    const doublings = Math.min((this.#refusal?.times ?? 1) - 1, 8);
    await sleep(Math.min(longestMillis, firstMillis * 2 ** doublings));
    if (this.#state !== "pausing") return;
    this.#state = "running";
    this.request();
  }

  #watch(): void {
    this.#dropLost();
    if (this.#state === "stopping") this.#idle?.();
    this.request();
  }

  /** Drops pull requests whose end was never reported. At most the messages of the remaining requests are still open. */
  #dropLost(): void {
    const now = performance.now();
    let most = 0;
    for (const [id, { batch, until }] of this.#requests) {
      if (until < now) this.#requests.delete(id);
      else most += batch;
    }
    this.#open = Math.min(this.#open, most);
  }
}
