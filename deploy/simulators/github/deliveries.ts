/**
 * Delivering webhooks as GitHub does, and a stand-in for its record of that: the package `emulate` sends each webhook of
 * an App and forgets it. A delivery that fails is not repeated, as with GitHub.
 */
import { createHmac, randomUUID } from "node:crypto";
import { Agent, request as send } from "undici";
import type { SeededApp } from "./seed.ts";

/** One delivery, with the names that it has in GitHub's API, `hook-delivery`. */
export interface Delivery {
  readonly id: number;
  /** `X-GitHub-Delivery`: that of its first delivery, when it is a redelivery. */
  readonly guid: string;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  /** Seconds. */
  readonly duration: number;
  /** `OK`, or why it counts as failed. */
  readonly status: string;
  /** 502 and 504 when there was no answer, as GitHub has it. */
  readonly status_code: number;
  readonly event: string;
  readonly action: string | null;
  readonly installation_id: number | null;
  readonly repository_id: number | null;
  readonly throttled_at: null;
  /** Where it went; empty when there was no target. */
  readonly url: string;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly payload: string };
  readonly response: { readonly headers: Readonly<Record<string, unknown>>; readonly payload: string };
  /** The id of the App whose webhook it is. */
  readonly app: number;
}

/** How deliveries are made. */
export interface DeliveryOptions {
  /** Where webhooks go, in turn. */
  readonly targets: readonly string[];
  /** Ends what is under way; that is not recorded. */
  readonly signal: AbortSignal;
}

const timeText = (time: Date): string => time.toISOString().replace(/\.\d+/, "");

/** How long a target may take to answer, as with GitHub. */
const timeoutMillis = 10_000;

/** GitHub's ids do not fit into 32 bits. */
const firstId = 170_000_000_001;

/** Makes and keeps deliveries. */
export class Deliveries {
  /** In the order of their ends. */
  readonly all: Delivery[] = [];
  targets: readonly string[];
  readonly #options: DeliveryOptions;
  // No connection is kept: a target that was started again must not be missed because of an old one.
  readonly #dispatcher = new Agent({ pipelining: 0 });
  readonly #underWay = new Set<Promise<Delivery>>();
  #begun = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.targets = options.targets;
  }

  /** Signs a webhook of the App and delivers it to the next target; resolves when there is an outcome. */
  deliver(app: SeededApp, event: string, body: string): Promise<Delivery> {
    return this.#begin(app.id, { event, body, headers: headersOf(app, event, body) }, false);
  }

  /** Delivers the same bytes with the same headers once more. */
  again({ app, event, request: { headers, payload } }: Delivery): Promise<Delivery> {
    return this.#begin(app, { event, body: payload, headers }, true);
  }

  /** Resolves when there is an outcome of all. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Moves every attempt so far into the past. */
  age(millis: number): void {
    for (const [at, delivery] of this.all.entries()) {
      const moved = new Date(Date.parse(delivery.delivered_at) - millis);
      this.all[at] = { ...delivery, delivered_at: timeText(moved) };
    }
  }

  #begin(
    app: number,
    sent: { event: string; body: string; headers: Record<string, string> },
    redelivery: boolean,
  ): Promise<Delivery> {
    const delivery = this.#attempt(app, sent, redelivery).finally(() => this.#underWay.delete(delivery));
    this.#underWay.add(delivery);
    return delivery;
  }

  async #attempt(
    app: number,
    { event, body, headers }: { event: string; body: string; headers: Record<string, string> },
    redelivery: boolean,
  ): Promise<Delivery> {
    const number = this.#begun++;
    const url = this.targets[number % this.targets.length] ?? "";
    const begun = new Date();
    const outcome = await this.#send(url, headers, body);
    const { action, installation, repository } = JSON.parse(body);
    const delivery = {
      id: firstId + number,
      guid: headers["X-GitHub-Delivery"] ?? "",
      delivered_at: timeText(begun),
      redelivery,
      duration: Math.round((Date.now() - begun.getTime()) / 10) / 100,
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
    if (!this.#options.signal.aborted) this.all.push(delivery);
    return delivery;
  }

  async #send(
    url: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<Pick<Delivery, "status" | "status_code" | "response">> {
    const late = AbortSignal.timeout(timeoutMillis);
    try {
      const answer = await send(url, {
        method: "POST",
        headers,
        body,
        dispatcher: this.#dispatcher,
        signal: AbortSignal.any([late, this.#options.signal]),
      });
      const response = { headers: answer.headers, payload: await answer.body.text() };
      const { statusCode } = answer;
      const fine = statusCode >= 200 && statusCode < 300;
      return {
        status: fine ? "OK" : `Invalid HTTP Response: ${statusCode}`,
        status_code: statusCode,
        response,
      };
    } catch {
      const response = { headers: {}, payload: "" };
      return late.aborted
        ? { status: "timed out", status_code: 504, response }
        : { status: "failed to connect to host", status_code: 502, response };
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/**
 * The headers that GitHub sends. All of them are made here: `emulate` sends four, of which the id is the time, in
 * milliseconds, that two deliveries may share, and signs what is not complete yet.
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
