/**
 * Handles one request: reads, verifies, parses, stores, and answers it. The order matters: nothing is parsed before its
 * signature is verified, and success is reported only after the bus has stored the event.
 *
 * Answers are visible to GitHub's users and to strangers: they explain how to fix an error, and reveal nothing about existing
 * hooks and secrets.
 */
import type { IncomingMessage } from "node:http";
import type { CloudEvent } from "cloudevents";
import { githubEvent, MalformedPayloadError } from "../events/github/adapter.ts";
import { isWebhookEventName } from "../events/github/payloads.ts";
import type { WebhookAddress } from "../subjects.ts";
import { setWebhook, webhookSpan } from "../tracing/messages.ts";
import { spanned } from "../tracing/spans.ts";
import { refusedForGood } from "../webhooks/answers.ts";
import { OversizedDeliveryError, type Stored } from "../webhooks/deliveries.ts";
import { readBody, type Unread } from "./body.ts";
import type { Room } from "./budget.ts";
import { checkSignature } from "./signature.ts";

/** An answer. `outcome` names it in metrics. */
export interface Answer {
  readonly status: number;
  readonly outcome: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Extra detail for the operator. */
  readonly detail?: string;
  readonly event?: string;
  readonly delivery?: string;
  /** The request was signed with a secret of its hook. */
  readonly signed?: boolean;
}

/** Options of {@link receiver}. */
export interface ReceiverOptions {
  /** Path under which hooks are served: `/github`. */
  readonly path: string;
  readonly secretsOf: (hook: string) => readonly string[] | undefined;
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  readonly room: () => Room;
  /** Called when a request turns out to be signed. */
  readonly signed: (request: IncomingMessage) => void;
  /** Stores an event. Rejects if the bus does not store it in time, or with an {@link OversizedDeliveryError}. */
  readonly store: (at: WebhookAddress, event: CloudEvent<unknown>, answerBy: number) => Promise<Stored>;
}

const answer = (status: number, outcome: string, text: string, more: Partial<Answer> = {}): Answer => ({
  status,
  outcome,
  text,
  ...more,
});

const retry = { headers: { "retry-after": "5" } };
const unread: Readonly<Record<Unread, Answer>> = {
  "too large": answer(413, "too_large", "body too large: limit 25 MB"),
  "no room": answer(503, "busy", "busy: send it again", retry),
  displaced: answer(503, "displaced", "busy: send it again", retry),
  "broken off": answer(400, "broken_off", "incomplete body"),
};
const noLength = answer(411, "no_length", "missing header Content-Length");
const unsigned = answer(
  401,
  "unsigned",
  "invalid signature in X-Hub-Signature-256: sign with the secret of this webhook",
);

type ContentType = "json" | "form";
const contentTypes: Readonly<Record<string, ContentType>> = {
  "application/json": "json",
  "application/x-www-form-urlencoded": "form",
};

/** GitHub's ids are GUIDs. They become headers and are shown in terminals. */
const deliveryId = /^[A-Za-z0-9._-]{1,100}$/;

/** Handles a request that has to be answered by this time of `performance.now()`. */
export type Receive = (request: IncomingMessage, answerBy: number) => Promise<Answer>;

/** Opens a receiver of GitHub webhooks. */
export function receiver(options: ReceiverOptions): Receive {
  const prefix = `${options.path.replace(/\/+$/, "")}/`;

  function hookOf(url: string): string | undefined {
    const path = url.split("?", 1)[0] ?? "";
    const hook = path.startsWith(prefix) ? path.slice(prefix.length) : "";
    return hook === "" || hook.includes("/") ? undefined : hook;
  }

  /** Reads the body and verifies its signature. */
  async function verified(request: IncomingMessage, hook: string, room: Room): Promise<Buffer | Answer> {
    const { "x-hub-signature-256": signature, "content-length": length } = request.headers;
    // GitHub sends the length. Without it, a body may arrive in pieces that each cost more than the byte sent.
    if (length === undefined) return noLength;
    const check = checkSignature(String(signature ?? ""), options.secretsOf(hook));
    if (check === undefined) return unsigned;
    const announced = Number(length);
    const body = await readBody(request, { limit: options.bodyLimit, announced, room, each: check.update });
    if (typeof body === "string") return unread[body];
    return check.matches() ? body : unsigned;
  }

  async function receive(request: IncomingMessage, room: Room, answerBy: number): Promise<Answer> {
    const began = Date.now();
    const hook = hookOf(request.url ?? "");
    if (hook === undefined) return answer(404, "not_found", "not the address of a webhook");
    if (request.method !== "POST")
      return answer(405, "method", "expected POST", { headers: { allow: "POST" } });
    const type =
      contentTypes[(request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""];
    if (type === undefined)
      return answer(415, "content_type", `expected ${Object.keys(contentTypes).join(" or ")}`);
    const body = await verified(request, hook, room);
    if (!Buffer.isBuffer(body)) return body;
    options.signed(request);
    // Only a signed request makes a span or may continue a trace.
    const span = webhookSpan(String(request.headers.traceparent ?? ""), began);
    return spanned(span, async () => {
      const found = await understand(request, body, type, answerBy, span.traceparent);
      setWebhook(span, found);
      return { ...found, signed: true };
    });
  }

  async function understand(
    request: IncomingMessage,
    body: Buffer,
    type: ContentType,
    answerBy: number,
    traceparent: string,
  ): Promise<Answer> {
    const event = String(request.headers["x-github-event"] ?? "");
    const delivery = String(request.headers["x-github-delivery"] ?? "");
    if (event === "" || !deliveryId.test(delivery))
      return answer(400, "headers", "missing or invalid header X-GitHub-Event or X-GitHub-Delivery");
    const about = { event, delivery };
    if (event === "ping") return answer(200, "ping", "pong", about);
    if (!isWebhookEventName(event)) return answer(200, "ignored", "event not supported", { delivery });
    const payload = parsed(body, type);
    if (payload === undefined) return answer(refusedForGood, "not_json", "body is not JSON", about);
    let converted: ReturnType<typeof githubEvent>;
    try {
      converted = githubEvent({ event, delivery, payload, now: new Date(), traceparent });
    } catch (error) {
      if (!(error instanceof MalformedPayloadError)) throw error;
      return answer(refusedForGood, "malformed", `not a payload of the event ${event}`, {
        ...about,
        detail: error.message,
      });
    }
    const { owner, repository } = converted;
    try {
      const at = { provider: "github", event, owner, repository };
      const stored = await options.store(at, converted.event, answerBy);
      return answer(202, stored, stored, about);
    } catch (error) {
      if (error instanceof OversizedDeliveryError)
        return answer(413, "oversized", "payload too large for the bus", { ...about, detail: error.message });
      return answer(503, "not_stored", "not stored: send it again", {
        ...about,
        ...retry,
        detail: (error as Error).message,
      });
    }
  }

  return async (request, answerBy) => {
    const room = options.room();
    try {
      return await receive(request, room, answerBy);
    } finally {
      room.free();
    }
  };
}

function parsed(body: Buffer, type: ContentType): unknown {
  const text = body.toString();
  try {
    return JSON.parse(type === "json" ? text : (new URLSearchParams(text).get("payload") ?? ""));
  } catch {
    return undefined;
  }
}
