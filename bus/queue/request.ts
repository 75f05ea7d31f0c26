/** Requests: "reconcile function F for object K". They carry a key and a cause, never the state. */
import { z } from "zod";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import { parseTrace } from "../tracing/trace.ts";

/** A version of an object. */
export const objectVersionSchema = z.object({
  group: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
});

/** Why a reconcile is requested. */
const causeSchema = z.discriminatedUnion("type", [
  z.object({
    /** An object changed: the reconcile must read at least this version of it. */
    type: z.literal("object"),
    ...objectVersionSchema.shape,
    /** The event before lacked fields of the object, so a reconcile that has read or written this version may have missed them. */
    correction: z.literal(true).optional(),
  }),
  z.object({
    type: z.literal("webhook"),
    /** The sender: `github`. Stored requests of earlier versions have none. */
    provider: z.string().default("github"),
    event: z.string(),
    delivery: z.string(),
  }),
  z.object({ type: z.literal("timer") }),
  z.object({ type: z.literal("replay") }),
]);
/** Why a reconcile is requested: a changed object, a webhook, a timer, or a manual replay. */
export type Cause = z.infer<typeof causeSchema>;

const knownTypes: readonly string[] = ["object", "webhook", "timer", "replay"] satisfies Cause["type"][];

/** A cause written by a newer version. It is read as a replay, whose reconcile reads from the API server and so misses no change. */
const unknownCause = z
  .object({ type: z.string().refine((type) => !knownTypes.includes(type)) })
  .transform((): Cause => ({ type: "replay" }));

/** Reads a cause, including one written by another version. */
export const readCause = z.union([causeSchema, unknownCause]);

/** The body of a ticket, a timer or a mark. */
export const requestSchema = z.object({
  cause: readCause,
  /** Further changes that the reconcile must read, when several marks became one request. */
  also: z.array(readCause).optional(),
  /** Failed attempts so far. */
  attempt: z.int().min(0).default(0),
  /** Consecutive tries that were blocked by something outside the object. They do not count as attempts. */
  blocked: z.int().min(0).optional(),
  /** When the request was first made, or fell due: milliseconds since the epoch. */
  since: z.number(),
  /** W3C trace context of the change that caused the request. */
  traceparent: z.string().optional(),
  /** W3C trace context of the reconcile that scheduled it. The request starts a new trace: otherwise traces would never end. */
  follows: z.string().optional(),
  /** W3C trace contexts of further sampled causes. */
  links: z.array(z.string()).optional(),
  /** Made only for an event: if that turns out to be an echo, the request can be dropped. */
  routed: z.literal(true).optional(),
  /** Delayed because its object was reconciled in a hot loop. */
  braked: z.literal(true).optional(),
  /** A retry: the last attempt failed. */
  failed: z.literal(true).optional(),
  /** Why the last attempt failed, as a CamelCase word for lists. */
  reason: z.string().optional(),
});
/** A request to reconcile an object. */
export type Request = z.infer<typeof requestSchema>;

/** Keeps unknown fields: a request that is retried or delayed is written again. */
const readSchema = requestSchema.loose();

/** Reads a request, including one written by another version. Throws zod's error on an invalid body. */
export const parseRequest = (text: string): Request => readSchema.parse(JSON.parse(text));

/** A request made now, by the given clock. */
export const newRequest = (
  cause: Cause,
  traceparent?: string,
  { now }: Pick<BusClock, "now"> = machineClock,
): Request => ({
  cause,
  attempt: 0,
  since: now(),
  ...(traceparent && { traceparent }),
});

/** Traces kept when several changes become one request. */
const maxLinks = 16;

/** Bytes of causes in one request: far below any `max_payload`, and enough for a hundred changes. */
const maxCauseBytes = 65_536;

/** How many of these requests, counted from the first, fit into one. At least one. */
export function countMergeable(requests: readonly Request[]): number {
  let bytes = 0;
  const end = requests.findIndex(({ cause }) => {
    bytes += Buffer.byteLength(JSON.stringify(cause));
    return bytes > maxCauseBytes;
  });
  return end < 0 ? requests.length : Math.max(1, end);
}

/** Merges several requests into one. The caller limits them by {@link countMergeable}. */
export function mergeRequests(first: Request, rest: readonly Request[]): Request {
  const recorded = rest.flatMap(({ traceparent }) =>
    parseTrace(traceparent)?.isSampled ? [`${traceparent}`] : [],
  );
  const links = [...(first.links ?? []), ...recorded].slice(0, maxLinks);
  return { ...first, also: rest.map(({ cause }) => cause), ...(links.length > 0 && { links }) };
}

/** A delayed request of the reconcile with the given trace context. */
export const timerRequest = (follows: string, clock: Pick<BusClock, "now">): Request =>
  followUp(newRequest({ type: "timer" }, undefined, clock), follows);

/** The request without its trace: it starts a new one that links to the reconcile that scheduled it. */
export function followUp({ traceparent: _, links: _links, ...request }: Request, follows: string): Request {
  return { ...request, follows };
}

/** Reads a request. An unreadable one counts as a replay, which no earlier reconcile covers. */
export function requestOrReplay(text: string): Request {
  try {
    return parseRequest(text);
  } catch {
    return newRequest({ type: "replay" });
  }
}

/** Names the cause in a mark's subject: one mark per changed object or delivery. */
export function subjectOfCause(cause: Cause): string {
  switch (cause.type) {
    case "object":
      // A late mark of the former event must not replace this one.
      return cause.correction ? `${cause.uid}+` : cause.uid;
    case "webhook":
      return cause.delivery;
    default:
      return cause.type;
  }
}
