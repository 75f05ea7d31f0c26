/**
 * Delivers webhooks as GitHub does and records the deliveries, which the package `emulate` does not. A failed delivery
 * is not retried, as with GitHub.
 */
import { createHmac, randomUUID } from "node:crypto";
import { Agent, request as send } from "undici";
import type { SeededApp } from "./seed.ts";

/** One delivery, with the field names of `hook-delivery` in GitHub's API. */
export interface Delivery {
  readonly id: number;
  /** `X-GitHub-Delivery`; a redelivery keeps the value of the first delivery. */
  readonly guid: string;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  /** Seconds. */
  readonly duration: number;
  /** `OK`, or the reason for the failure. */
  readonly status: string;
  /** Without a response: 502 or 504, as with GitHub. */
  readonly status_code: number;
  readonly event: string;
  readonly action: string | null;
  readonly installation_id: number | null;
  readonly repository_id: number | null;
  readonly throttled_at: null;
  /** Target URL; empty when there was no target. */
  readonly url: string;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly payload: string };
  readonly response: { readonly headers: Readonly<Record<string, unknown>>; readonly payload: string };
  /** Id of the App that owns the webhook. */
  readonly app: number;
}

/** Options of {@link Deliveries}. */
export interface DeliveryOptions {
  /** Target URLs, used in turn. */
  readonly targets: readonly string[];
  /** Aborts in-flight deliveries, which are then not recorded. */
  readonly signal: AbortSignal;
  /** Called with each delivery whose target did not accept it, and with the error if there was no response. */
  readonly onFailure?: ((delivery: Delivery, error?: Error) => void) | undefined;
}

const timeText = (time: Date): string => time.toISOString().replace(/\.\d+/, "");

/** The status of a delivery that its target accepted. */
const delivered = "OK";

/** GitHub's timeout for a target's response. */
const timeoutMillis = 10_000;

/** GitHub's ids do not fit into 32 bits. */
const firstId = 170_000_000_001;

/** Sends and records deliveries. */
export class Deliveries {
  /** All deliveries, in the order of their completion. */
  readonly all: Delivery[] = [];
  targets: readonly string[];
  readonly #options: DeliveryOptions;
  // No keep-alive: a delivery must not fail on a stale connection to a target that has restarted.
  readonly #dispatcher = new Agent({ pipelining: 0 });
  /** Targets of Apps that have their own, by id. */
  readonly #own = new Map<number, string>();
  readonly #inFlight = new Set<Promise<Delivery>>();
  #started = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.targets = options.targets;
  }

  /** Signs a webhook of the App and delivers it to the next target. Resolves with the outcome. */
  deliver(app: SeededApp, event: string, body: string): Promise<Delivery> {
    if (typeof app.hookUrl === "string") this.#own.set(app.id, app.hookUrl);
    return this.#start(app.id, { event, body, headers: headersOf(app, event, body) }, false);
  }

  /** Delivers the same bytes and headers again. */
  redeliver({ app, event, request: { headers, payload } }: Delivery): Promise<Delivery> {
    return this.#start(app, { event, body: payload, headers }, true);
  }

  /** Resolves when no delivery is in flight. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  /** Moves the time of all recorded deliveries into the past. */
  age(millis: number): void {
    for (const [index, delivery] of this.all.entries()) {
      const moved = new Date(Date.parse(delivery.delivered_at) - millis);
      this.all[index] = { ...delivery, delivered_at: timeText(moved) };
    }
  }

  #start(
    app: number,
    sent: { event: string; body: string; headers: Record<string, string> },
    redelivery: boolean,
  ): Promise<Delivery> {
    const delivery = this.#attempt(app, sent, redelivery).finally(() => this.#inFlight.delete(delivery));
    this.#inFlight.add(delivery);
    return delivery;
  }

  async #attempt(
    app: number,
    { event, body, headers }: { event: string; body: string; headers: Record<string, string> },
    redelivery: boolean,
  ): Promise<Delivery> {
    const number = this.#started++;
    const url = this.#own.get(app) ?? this.targets[number % this.targets.length] ?? "";
    const startedAt = new Date();
    const { error, ...outcome } = await this.#send(url, headers, body);
    const { action, installation, repository } = JSON.parse(body);
    const delivery = {
      id: firstId + number,
      guid: headers["X-GitHub-Delivery"] ?? "",
      delivered_at: timeText(startedAt),
      redelivery,
      duration: Math.round((Date.now() - startedAt.getTime()) / 10) / 100,
      event,
      action: action ?? null,
      installation_id: installation?.id ?? null,
      repository_id: repository?.id ?? null,
      throttled_at: null,
      url,
      request: { headers, payload: body },
      app,
      ...outcome,
    };
    if (this.#options.signal.aborted) return delivery;
    this.all.push(delivery);
    if (outcome.status !== delivered) this.#options.onFailure?.(delivery, error);
    return delivery;
  }

  async #send(
    url: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<Pick<Delivery, "status" | "status_code" | "response"> & { readonly error?: Error }> {
    const timeout = AbortSignal.timeout(timeoutMillis);
    try {
      const answer = await send(url, {
        method: "POST",
        headers,
        body,
        dispatcher: this.#dispatcher,
        signal: AbortSignal.any([timeout, this.#options.signal]),
      });
      const response = { headers: answer.headers, payload: await answer.body.text() };
      const { statusCode } = answer;
      const isSuccess = statusCode >= 200 && statusCode < 300;
      return {
        status: isSuccess ? delivered : `Invalid HTTP Response: ${statusCode}`,
        status_code: statusCode,
        response,
      };
    } catch (reason) {
      const missing = { response: { headers: {}, payload: "" }, error: reason as Error };
      return timeout.aborted
        ? { status: "timed out", status_code: 504, ...missing }
        : { status: "failed to connect to host", status_code: 502, ...missing };
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/**
 * The headers that GitHub sends. `emulate` sends only four of them: its delivery id is a time in milliseconds, which two
 * deliveries may share, and its signature is over an incomplete payload.
 */
function headersOf({ id, webhookSecret }: SeededApp, event: string, body: string): Record<string, string> {
  return {
    Accept: "*/*",
    "Content-Type": "application/json",
    "User-Agent": "GitHub-Hookshot/emulate",
    "X-GitHub-Delivery": randomUUID(),
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": String(id * 10),
    "X-GitHub-Hook-Installation-Target-ID": String(id),
    "X-GitHub-Hook-Installation-Target-Type": "integration",
    "X-Hub-Signature": `sha1=${hmac("sha1", webhookSecret, body)}`,
    "X-Hub-Signature-256": `sha256=${hmac("sha256", webhookSecret, body)}`,
  };
}

const hmac = (algorithm: string, secret: string, body: string): string =>
  createHmac(algorithm, secret).update(body).digest("hex");
