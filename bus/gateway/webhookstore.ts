/** Stores the gateway's webhooks on the bus, each within a time limit, and reports recent failures. */
import type { CloudEventV1 } from "cloudevents";
import type { Bus } from "../nats/connect.ts";
import type { WebhookAddress } from "../subjects.ts";
import { turnEnd } from "../values/eventloop.ts";
import { OversizedDeliveryError, type Stored, storeDelivery } from "../webhooks/deliveries.ts";

/** How long a failure to store makes this replica unready, so that others get the requests. Milliseconds. */
const unreadyMillis = 5_000;

/** Options of a {@link WebhookStore}. */
export interface WebhookStoreOptions {
  /** Limit for storing one event, in milliseconds. */
  readonly limitMillis: number;
  /** The bus's clock. Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The webhooks of one gateway on the bus. */
export class WebhookStore {
  readonly #bus: Bus;
  readonly #options: WebhookStoreOptions;
  /** Webhooks of one turn of the event loop share a socket write. */
  readonly #endOfTurn = turnEnd();
  #failure: { readonly at: number; readonly reason: string } | undefined;

  constructor(bus: Bus, options: WebhookStoreOptions) {
    this.#bus = bus;
    this.#options = options;
  }

  /** Stores an event, by `answerBy` of `performance.now()` at the latest. Rejects like {@link storeDelivery}. */
  async store(
    hook: string,
    at: WebhookAddress,
    event: CloudEventV1<unknown>,
    answerBy: number,
  ): Promise<Stored> {
    const { limitMillis, now } = this.#options;
    const left = Math.max(0, Math.ceil(answerBy - performance.now()));
    // Unlike the timer of a timeout signal, this one ends with the request.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), Math.min(limitMillis, left));
    try {
      await this.#endOfTurn();
      const stored = await storeDelivery(this.#bus, { ...at, hook }, event, { signal: late.signal, now });
      this.#failure = undefined;
      return stored;
    } catch (error) {
      if (!(error instanceof OversizedDeliveryError))
        this.#failure = { at: performance.now(), reason: (error as Error).message };
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Why the bus failed to store something a moment ago. */
  notReady(): string | undefined {
    const failure = this.#failure;
    const isRecent = failure !== undefined && performance.now() - failure.at <= unreadyMillis;
    return isRecent ? failure.reason : undefined;
  }
}
