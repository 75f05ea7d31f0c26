/**
 * Pulls from a durable consumer exactly as many messages as there are free slots: AckWait runs from delivery, so a message in a
 * buffer would already use up its time.
 *
 * Pull requests expire within seconds. A graceful stop waits for the open ones to expire and hands back messages that still
 * arrive, so no message has to wait for a redelivery by timeout.
 * Wire format: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-13.md
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import type { Bus } from "../nats/connect.ts";
import { type Delivery, deliveryOf } from "../nats/delivery.ts";

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

const expiresMillis = 2000;
/** How long after its expiry an unanswered pull request counts as lost. Milliseconds. */
const graceMillis = 1000;
/** Pause after a refusal, doubled each time. Milliseconds. */
const refusedPause = { firstMillis: 250, longestMillis: 2000 };

/** Starts pulling. */
export function startPull({ bus, stream, consumer, slots, handle, onRefused }: PullOptions): Pull {
  const { nc } = bus;
  const inbox = bus.inbox.create();
  const next = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
  // A message does not name the pull request it answers, so only the sum of open messages is known.
  let open = 0;
  const pulls = new Map<string, { batch: number; until: number }>();
  let busy = 0;
  let nextId = 0;
  let state: "running" | "pausing" | "stopping" = "running";
  let planned = false;
  let idle: (() => void) | undefined;
  let refusal: PullRefusal | undefined;

  function refused(code: number, description: string): void {
    refusal = {
      code,
      description,
      times: (refusal?.times ?? 0) + 1,
      since: refusal?.since ?? performance.now(),
    };
    onRefused?.(refusal);
  }

  /** Drops pull requests whose end was never reported: no more can be open than the remaining ones requested. */
  function forgetLost(): void {
    const now = performance.now();
    let most = 0;
    for (const [id, { batch, until }] of pulls) {
      if (until < now) pulls.delete(id);
      else most += batch;
    }
    open = Math.min(open, most);
  }

  /** Sends one pull request for all slots that became free in this turn of the event loop. */
  function plan(): void {
    if (planned || state !== "running") return;
    planned = true;
    setImmediate(() => {
      planned = false;
      ask();
    });
  }

  function ask(): void {
    if (state !== "running" || nc.isClosed()) return;
    const want = slots - busy - open;
    // While more is open than became free, wait: a few large pull requests are cheaper than many small ones.
    if (want <= 0 || want < open) return;
    const id = String(nextId++);
    open += want;
    pulls.set(id, { batch: want, until: performance.now() + expiresMillis + graceMillis });
    nc.publish(next, JSON.stringify({ batch: want, expires: expiresMillis * 1e6 }), {
      reply: `${inbox}.${id}`,
    });
  }

  async function pause(): Promise<void> {
    if (state !== "running") return;
    state = "pausing";
    const { firstMillis, longestMillis } = refusedPause;
    await sleep(Math.min(longestMillis, firstMillis * 2 ** Math.min((refusal?.times ?? 1) - 1, 8)));
    if (state !== "pausing") return;
    state = "running";
    ask();
  }

  function settle(): void {
    busy--;
    if (state === "stopping") idle?.();
    else plan();
  }

  /** The server ends a pull request and reports how many messages it did not deliver. */
  function ended(message: Msg, code: number): void {
    pulls.delete(message.subject.slice(inbox.length + 1));
    open = Math.max(0, open - Number(message.headers?.get("Nats-Pending-Messages") || 0));
    if (pulls.size === 0) open = 0;
    if (state === "stopping") idle?.();
    // 404 and 408: no messages, or expired. Any other code is a broken consumer: pause before the next request.
    else if (code === 404 || code === 408) {
      refusal = undefined;
      plan();
    } else {
      refused(code, message.headers?.description ?? "");
      void pause();
    }
  }

  function receive(message: Msg): void {
    // Status messages arrive on the inbox; messages of the stream keep the subject they were stored under.
    if (message.subject.startsWith(inbox)) {
      const code = message.headers?.code ?? 0;
      if (code !== 0 && code !== 100) ended(message, code);
      return;
    }
    open = Math.max(0, open - 1);
    refusal = undefined;
    const delivery = deliveryOf(bus, message);
    if (state === "stopping") {
      delivery.handBack();
      idle?.();
      return;
    }
    busy++;
    handle(delivery).then(settle, settle);
  }

  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error === null) receive(message);
      else refused(403, error.message);
    },
  });
  const forgetDenials = bus.inbox.onDenied(next, ({ message }) => {
    // The server received none of them.
    pulls.clear();
    open = 0;
    refused(403, message);
    if (state === "stopping") idle?.();
    else void pause();
  });
  const watchdog = setInterval(() => {
    forgetLost();
    if (state === "stopping") idle?.();
    plan();
  }, 500);
  watchdog.unref();
  ask();

  return {
    get busy() {
      return busy;
    },
    get refusal() {
      return refusal;
    },
    async stop() {
      state = "stopping";
      await new Promise<void>((resolve) => {
        idle = () => {
          if (busy === 0 && (open === 0 || nc.isClosed())) resolve();
        };
        idle();
      });
      clearInterval(watchdog);
      forgetDenials();
      subscription.unsubscribe();
      // When the server answers this ping, it has received the hand-backs.
      if (!nc.isClosed()) await nc.flush().catch(() => undefined);
    },
  };
}
