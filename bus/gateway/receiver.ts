/**
 * Handles one request: reads, verifies, parses, stores, and answers it. The order matters: nothing is parsed before its
 * signature is verified, and success is reported only after the bus has stored the event.
 *
 * Answers are visible to GitHub's users and to strangers: they explain how to fix an error, and reveal nothing about existing
 * hooks and secrets.
 */
import type { IncomingMessage } from "node:http";
import type { CloudEvent } from "cloudevents";
import { type AdaptedWebhook, githubEvent, MalformedPayloadError } from "../events/github/adapter.ts";
import { isWebhookEventName, type WebhookEventName } from "../events/github/payloads.ts";
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
  /** Called when the signature of a request is verified. */
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

/** Handles a request. `answerBy` is a time of `performance.now()`. */
export type Receive = (request: IncomingMessage, answerBy: number) => Promise<Answer>;

/** Opens a receiver of GitHub webhooks. */
export function receiver(options: ReceiverOptions): Receive {
  const prefix = `${options.path.replace(/\/+$/, "")}/`;
  return async (request, answerBy) => {
    const hook = hookOf(request.url ?? "", prefix);
    const room = options.room();
    try {
      return await receive(options, request, hook, room, answerBy);
    } finally {
      room.free();
    }
  };
}

/** The hook that a URL names: the part behind the prefix. */
function hookOf(url: string, prefix: string): string | undefined {
  const path = url.split("?", 1)[0] ?? "";
  const hook = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  return hook === "" || hook.includes("/") ? undefined : hook;
}

function contentTypeOf({ headers }: IncomingMessage): ContentType | undefined {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return contentTypes[type.trim().toLowerCase()];
}

async function receive(
  options: ReceiverOptions,
  request: IncomingMessage,
  hook: string | undefined,
  room: Room,
  answerBy: number,
): Promise<Answer> {
  const began = Date.now();
  if (hook === undefined) return answer(404, "not_found", "not the address of a webhook");
  if (request.method !== "POST")
    return answer(405, "method", "expected POST", { headers: { allow: "POST" } });
  const type = contentTypeOf(request);
  if (type === undefined)
    return answer(415, "content_type", `expected ${Object.keys(contentTypes).join(" or ")}`);
  const body = await verified(options, request, hook, room);
  if (!Buffer.isBuffer(body)) return body;
  options.signed(request);
  // Only a signed request creates a span or may continue a trace.
  const span = webhookSpan(String(request.headers.traceparent ?? ""), began);
  return spanned(span, async () => {
    const read = readEvent(request, body, type, span.traceparent);
    const result = "status" in read ? read : await store(options, read, answerBy);
    setWebhook(span, result);
    return { ...result, signed: true };
  });
}

/** Reads the body and verifies its signature. */
async function verified(
  { secretsOf, bodyLimit: limit }: ReceiverOptions,
  request: IncomingMessage,
  hook: string,
  room: Room,
): Promise<Buffer | Answer> {
  const { "x-hub-signature-256": signature, "content-length": length } = request.headers;
  // GitHub sends the length. Without it, a body may arrive in tiny pieces that each cost more than they contain.
  if (length === undefined) return noLength;
  const check = checkSignature(String(signature ?? ""), secretsOf(hook));
  if (check === undefined) return unsigned;
  const body = await readBody(request, { limit, announced: Number(length), room, each: check.update });
  if (typeof body === "string") return unread[body];
  return check.matches() ? body : unsigned;
}

/** An event to store, and the delivery that it came with. */
interface ReceivedEvent {
  readonly about: { readonly event: WebhookEventName; readonly delivery: string };
  readonly adapted: AdaptedWebhook;
}

/** The event in a signed request, or the answer to a request without one. */
function readEvent(
  request: IncomingMessage,
  body: Buffer,
  type: ContentType,
  traceparent: string,
): ReceivedEvent | Answer {
  const event = String(request.headers["x-github-event"] ?? "");
  const delivery = String(request.headers["x-github-delivery"] ?? "");
  if (event === "" || !deliveryId.test(delivery))
    return answer(400, "headers", "missing or invalid header X-GitHub-Event or X-GitHub-Delivery");
  if (event === "ping") return answer(200, "ping", "pong", { event, delivery });
  if (!isWebhookEventName(event)) return answer(200, "ignored", "event not supported", { delivery });
  const about = { event, delivery };
  const payload = parsed(body, type);
  if (payload === undefined) return answer(refusedForGood, "not_json", "body is not JSON", about);
  try {
    return { about, adapted: githubEvent({ event, delivery, payload, now: new Date(), traceparent }) };
  } catch (error) {
    if (!(error instanceof MalformedPayloadError)) throw error;
    const detail = error.message;
    return answer(refusedForGood, "malformed", `not a payload of the event ${event}`, { ...about, detail });
  }
}

/** Stores an event, and returns the answer to its request. */
async function store(
  options: ReceiverOptions,
  { about, adapted }: ReceivedEvent,
  answerBy: number,
): Promise<Answer> {
  const { owner, repository } = adapted;
  const at = { provider: "github", event: about.event, owner, repository };
  try {
    const outcome = await options.store(at, adapted.event, answerBy);
    return answer(202, outcome, outcome, about);
  } catch (error) {
    const { message: detail } = error as Error;
    return error instanceof OversizedDeliveryError
      ? answer(413, "oversized", "payload too large for the bus", { ...about, detail })
      : answer(503, "not_stored", "not stored: send it again", { ...about, ...retry, detail });
  }
}

function parsed(body: Buffer, type: ContentType): unknown {
  const text = body.toString();
  try {
    return JSON.parse(type === "json" ? text : (new URLSearchParams(text).get("payload") ?? ""));
  } catch {
    return undefined;
  }
}
