/** A message that a durable consumer delivered to this process, and the ways to answer it. */
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { soon } from "../values/eventloop.ts";
import type { Bus } from "./connect.ts";
import { readableHeaders } from "./headers.ts";

/** How long the server may take to confirm an answer, in milliseconds. */
const confirmMillis = 2000;

/** One delivery. Acknowledgement protocol: https://docs.nats.io/using-nats/developer/develop_jetstream/consumers */
export interface Delivery {
  readonly subject: string;
  /** Name of the stream that has the message. */
  readonly stream: string;
  readonly headers: MsgHdrs | undefined;
  /** Number of deliveries, including this one. */
  readonly deliveries: number;
  /** Position in the stream. */
  readonly sequence: number;
  /** Messages that the consumer has yet to deliver. */
  readonly pending: number;
  /** Subject for the answer to this delivery. */
  readonly reply: string;
  /** When the message was stored: milliseconds since the epoch, by the bus's clock. */
  readonly storedAt: number;
  /** Local time of arrival (`performance.now()`). */
  readonly arrived: number;
  string(): string;
  /** Acknowledges without confirmation. For messages whose redelivery does no harm. */
  done(): void;
  /** Acknowledges with confirmation. Rejects if the server does not answer in time. */
  confirmDone(): Promise<void>;
  /** Restarts the consumer's AckWait, with confirmation. Rejects if the server does not answer in time. */
  extend(): Promise<void>;
  /** Returns the message. The server redelivers it to any replica, at once or after some milliseconds. */
  handBack(afterMillis?: number): void;
}

/**
 * Unconfirmed acknowledgements wait for each other, because a socket write costs more than a message. Nothing waits for them: only
 * AckWait and the consumer's limit of unacknowledged messages, which are far away.
 */
const acknowledgeMillis = 20;
const maxWaiting = 64;
let waiting: (readonly [NatsConnection, string])[] = [];
const acknowledgeSoon = soon(acknowledgeMillis, () => sendAcknowledgements());

/** Sends the acknowledgements that wait. Without this, they are sent some milliseconds later. */
export function sendAcknowledgements(): void {
  const sent = waiting;
  waiting = [];
  for (const [nc, reply] of sent) if (!nc.isClosed()) nc.publish(reply, "+ACK");
}

function acknowledge(nc: NatsConnection, reply: string): void {
  waiting.push([nc, reply]);
  if (waiting.length >= maxWaiting) sendAcknowledgements();
  else acknowledgeSoon();
}

/** Reads a message of a pull consumer. */
export const deliveryOf = (bus: Pick<Bus, "nc" | "inbox">, message: Msg): Delivery =>
  new MessageDelivery(bus, message);

/** Reply subjects carry the delivery's numbers (ADR-15). A class, because V8 is slow to create object literals with getters. */
class MessageDelivery implements Delivery {
  readonly subject: string;
  readonly stream: string;
  readonly reply: string;
  readonly deliveries: number;
  readonly sequence: number;
  readonly storedAt: number;
  readonly pending: number;
  readonly arrived = performance.now();
  readonly #bus: Pick<Bus, "nc" | "inbox">;
  readonly #message: Msg;

  constructor(bus: Pick<Bus, "nc" | "inbox">, message: Msg) {
    this.#bus = bus;
    this.#message = message;
    this.subject = message.subject;
    this.reply = message.reply ?? "";
    const parts = this.reply.split(".");
    // $JS.ACK.<stream>.<consumer>.… or, with a domain and an account hash in front, two more tokens.
    const start = parts.length > 9 ? 6 : 4;
    this.stream = parts[start - 2] ?? "";
    this.deliveries = Number(parts[start]);
    this.sequence = Number(parts[start + 1]);
    this.storedAt = Number(parts[start + 3]) / 1e6;
    this.pending = Number(parts[start + 4]);
  }

  get headers(): MsgHdrs | undefined {
    return readableHeaders(this.#message);
  }

  string(): string {
    return this.#message.string();
  }

  done(): void {
    acknowledge(this.#bus.nc, this.reply);
  }

  confirmDone(): Promise<void> {
    return this.#confirm("+ACK");
  }

  extend(): Promise<void> {
    return this.#confirm("+WPI");
  }

  handBack(afterMillis = 0): void {
    const delay = afterMillis > 0 ? ` ${JSON.stringify({ delay: afterMillis * 1e6 })}` : "";
    this.#bus.nc.publish(this.reply, `-NAK${delay}`);
  }

  async #confirm(answer: string): Promise<void> {
    await this.#bus.inbox.request(this.reply, answer, { timeoutMillis: confirmMillis });
  }
}
