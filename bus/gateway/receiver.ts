/**
 * Handles one request: reads, verifies, parses, stores, and answers it. The order matters: nothing is parsed before its
 * signature is verified, and success is reported only after the bus has stored the event.
 *
 * Answers are visible to the sender's users and to strangers: they explain how to fix an error, and reveal nothing about existing
 * hooks and secrets.
 */
import type { IncomingMessage } from "node:http";
import type { CloudEventV1 } from "cloudevents";
import type { WebhookAddress } from "../subjects.ts";
import { setWebhook, webhookSpan } from "../tracing/messages.ts";
import { spanned } from "../tracing/spans.ts";
import { type AdaptedWebhook, adaptWebhook } from "../webhooks/adapter.ts";
import { refusedForGood } from "../webhooks/answers.ts";
import { OversizedDeliveryError, type Stored } from "../webhooks/deliveries.ts";
import { MalformedPayloadError } from "../webhooks/malformed.ts";
import type { WebhookProvider } from "../webhooks/provider.ts";
import type { Selections } from "../webhooks/selection.ts";
import { readBody, type Unread } from "./body.ts";
import type { Room } from "./budget.ts";
import { type ContentType, contentTypeOf, contentTypes, idIn, idPlaces, parsed, placed } from "./request.ts";

/** An answer. `outcome` names it in metrics. */
export interface Answer {
  readonly status: number;
  readonly outcome: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Extra detail for the operator. */
  readonly detail?: string;
  readonly provider?: string;
  readonly event?: string;
  readonly delivery?: string;
  /** The request was signed with a secret of its hook. */
  readonly signed?: boolean;
}

/** The address of a hook. */
export interface Hook {
  readonly provider: WebhookProvider;
  /** The last part of its URL. */
  readonly name: string;
}

/** Options of {@link receiver}. */
export interface ReceiverOptions {
  /** Path under which hooks are served, as `<path>/<provider>/<hook>`. */
  readonly path: string;
  readonly selections: Selections;
  readonly secretsOf: (hook: Hook) => readonly string[] | undefined;
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  readonly room: () => Room;
  /** Called when the signature of a request is verified. */
  readonly signed: (request: IncomingMessage) => void;
  /** Stores an event. Rejects if the bus does not store it in time, or with an {@link OversizedDeliveryError}. */
  readonly store: (
    hook: Hook,
    at: WebhookAddress,
    event: CloudEventV1<unknown>,
    answerBy: number,
  ) => Promise<Stored>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
const unsigned = ({ provider }: Hook): Answer =>
  answer(401, "unsigned", provider.signature.refusal, { provider: provider.name });

/** Handles a request. `answerBy` is a time of `performance.now()`. */
export type Receive = (request: IncomingMessage, answerBy: number) => Promise<Answer>;

/** Opens a receiver of webhooks. */
export function receiver(options: ReceiverOptions): Receive {
  const prefix = `${options.path.replace(/\/+$/, "")}/`;
  return async (request, answerBy) => {
    const hook = hookOf(request.url ?? "", prefix, options.selections);
    const room = options.room();
    try {
      return await receive(options, request, hook, room, answerBy);
    } finally {
      room.free();
    }
  };
}

/** The hook that a URL names: the provider and the part behind it. */
function hookOf(url: string, prefix: string, { providers }: Selections): Hook | undefined {
  const path = url.split("?", 1)[0] ?? "";
  const [provider, name, ...more] = path.startsWith(prefix) ? path.slice(prefix.length).split("/") : [];
  const found = providers.get(provider ?? "");
  return found === undefined || !name || more.length > 0 ? undefined : { provider: found, name };
}

async function receive(
  options: ReceiverOptions,
  request: IncomingMessage,
  hook: Hook | undefined,
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
    const read = readEvent(options, { request, hook, body, type }, span.traceparent);
    const answered = "status" in read ? read : await store(options, hook, read, answerBy);
    const result = { ...answered, provider: hook.provider.name, signed: true };
    setWebhook(span, result);
    return result;
  });
}

/** Reads the body and verifies its signature. */
async function verified(
  { secretsOf, bodyLimit: limit, now }: ReceiverOptions,
  request: IncomingMessage,
  hook: Hook,
  room: Room,
): Promise<Buffer | Answer> {
  const { headers } = request;
  const { "content-length": length } = headers;
  // Senders send the length. Without it, a body may arrive in tiny pieces that each cost more than they contain.
  if (length === undefined) return noLength;
  const { signature } = hook.provider;
  const secrets = secretsOf(hook);
  const hasSecrets = secrets !== undefined && secrets.length > 0;
  const check = signature.check(headers, hasSecrets ? secrets : signature.decoys, now());
  if (check === undefined) return unsigned(hook);
  const body = await readBody(request, { limit, announced: Number(length), room, each: check.update });
  if (typeof body === "string") return unread[body];
  return check.matches() ? body : unsigned(hook);
}

/** An event to store, and the delivery that it came with. */
interface ReceivedEvent {
  readonly about: { readonly event: string; readonly delivery: string };
  readonly adapted: AdaptedWebhook;
}

/** A request with a verified signature. */
interface SignedRequest {
  readonly request: IncomingMessage;
  readonly hook: Hook;
  readonly body: Buffer;
  readonly type: ContentType;
}

/** The event in a signed request, or the answer to a request without one. */
function readEvent(
  { selections }: ReceiverOptions,
  { request, hook, body, type }: SignedRequest,
  traceparent: string,
): ReceivedEvent | Answer {
  const { provider, name } = hook;
  let payload: unknown;
  const json = () => (payload ??= parsed(body, type));
  const event = placed(provider.event, request.headers, json);
  const delivery = idIn(provider, request.headers, body, json);
  if (event === "" || delivery === undefined) {
    if ("field" in provider.event && json() === undefined)
      return answer(refusedForGood, "not_json", "body is not JSON");
    return answer(400, "headers", `missing or invalid ${idPlaces(provider)}`);
  }
  if (provider.pings.includes(event)) return answer(200, "ping", "pong", { event, delivery });
  const schemas = selections.of(provider.name, event);
  if (schemas.length === 0) return answer(200, "ignored", "event not supported", { delivery });
  const about = { event, delivery };
  if (json() === undefined) return answer(refusedForGood, "not_json", "body is not JSON", about);
  try {
    const now = new Date();
    const webhook = { provider, hook: name, event, delivery, payload, schemas, now, traceparent };
    return { about, adapted: adaptWebhook(webhook) };
  } catch (error) {
    if (!(error instanceof MalformedPayloadError)) throw error;
    const detail = error.message;
    return answer(refusedForGood, "malformed", `not a payload of the event ${event}`, { ...about, detail });
  }
}

/** Stores an event, and returns the answer to its request. */
async function store(
  options: ReceiverOptions,
  hook: Hook,
  { about, adapted }: ReceivedEvent,
  answerBy: number,
): Promise<Answer> {
  const { owner, repository } = adapted;
  const at = { provider: hook.provider.name, event: about.event, owner, repository };
  try {
    const outcome = await options.store(hook, at, adapted.event, answerBy);
    return answer(202, outcome, outcome, about);
  } catch (error) {
    const { message: detail } = error as Error;
    return error instanceof OversizedDeliveryError
      ? answer(413, "oversized", "payload too large for the bus", { ...about, detail })
      : answer(503, "not_stored", "not stored: send it again", { ...about, ...retry, detail });
  }
}
