/** Requests: "reconcile function F for object K". They carry a key and a cause, never the state. */
import { z } from "zod";
import { parseTrace } from "../events/trace.ts";
import { type BusClock, machineClock } from "../nats/busclock.ts";

/** A version of an object. */
export const objectVersionSchema = z.object({
  group: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
});

/** Why a reconcile is wanted. */
const causeSchema = z.discriminatedUnion("type", [
  z.object({
    /** An object changed: the reconcile must read at least this version of it. */
    type: z.literal("object"),
    ...objectVersionSchema.shape,
  }),
  z.object({ type: z.literal("webhook"), event: z.string(), delivery: z.string() }),
  z.object({ type: z.literal("timer") }),
  z.object({ type: z.literal("replay") }),
]);
/** What woke a function: a change of an object, a webhook, a delay that is over, or somebody by hand. */
export type Cause = z.infer<typeof causeSchema>;

const knownTypes: readonly string[] = ["object", "webhook", "timer", "replay"] satisfies Cause["type"][];

/**
 * A cause that a newer program has written. Whatever it is about, a reconcile that reads from the API server has seen it, so
 * who does not know it does what is done for a replay.
 */
const unknownCause = z
  .object({ type: z.string().refine((type) => !knownTypes.includes(type)) })
  .transform((): Cause => ({ type: "replay" }));

/** Reads a cause, also one of another version. */
export const readCause = z.union([causeSchema, unknownCause]);

/** The body of a ticket, a timer or a mark. */
export const requestSchema = z.object({
  cause: readCause,
  /** Further changes that the reconcile must read, when several marks became one request. */
  also: z.array(readCause).optional(),
  /** Failed attempts so far. */
  attempt: z.int().min(0).default(0),
  /** Consecutive tries that something outside the object blocked. They do not count as attempts. */
  blocked: z.int().min(0).optional(),
  /** When the request was first made, or has fallen due: milliseconds since the epoch. */
  since: z.number(),
  /** W3C trace context of the change that caused the request. */
  traceparent: z.string().optional(),
  /** W3C trace context of the reconcile that asked for it in some time: of another trace, or none would ever end. */
  follows: z.string().optional(),
  /** W3C trace contexts of further causes that were recorded. */
  links: z.array(z.string()).optional(),
  /** Made for an event, and for nothing else: should it turn out to be an echo, nobody wants anything. */
  routed: z.literal(true).optional(),
  /** Was delayed, because its object was reconciled in a hot loop. */
  braked: z.literal(true).optional(),
  /** Waits for its next attempt, because the last one failed. */
  failed: z.literal(true).optional(),
  /** Why the last attempt failed, as a CamelCase word for lists. */
  reason: z.string().optional(),
});
export type Request = z.infer<typeof requestSchema>;

/** What this version does not know is kept: a request that is tried again or delayed is written anew. */
const readSchema = requestSchema.loose();

/** Reads a request, also one of another version. Throws zod's error on a body that is none. */
export const parseRequest = (text: string): Request => readSchema.parse(JSON.parse(text));

/** A request made now, by the clock that is given. */
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

/** So many traces are remembered of the changes that became one request. */
const maxLinks = 16;

/** Bytes of causes in one request: far below any `max_payload`, and enough for a hundred changes. */
const maxCauseBytes = 65_536;

/** How many of these requests fit into one, from the first on: at least one. */
export function countMergeable(requests: readonly Request[]): number {
  let bytes = 0;
  const end = requests.findIndex(({ cause }) => {
    bytes += Buffer.byteLength(JSON.stringify(cause));
    return bytes > maxCauseBytes;
  });
  return end < 0 ? requests.length : Math.max(1, end);
}

/** One request for several, which {@link countMergeable} has counted. */
export function mergeRequests(first: Request, rest: readonly Request[]): Request {
  const recorded = rest.flatMap(({ traceparent }) =>
    parseTrace(traceparent)?.isSampled ? [`${traceparent}`] : [],
  );
  const links = [...(first.links ?? []), ...recorded].slice(0, maxLinks);
  return { ...first, also: rest.map(({ cause }) => cause), ...(links.length > 0 && { links }) };
}

/** A request of the reconcile with the given trace context, to be made in some time. */
export const timerRequest = (follows: string, clock: Pick<BusClock, "now">): Request =>
  followUp(newRequest({ type: "timer" }, undefined, clock), follows);

/** The request as one of a new trace, which names that of the reconcile which asks for it. */
export function followUp({ traceparent: _, links: _links, ...request }: Request, follows: string): Request {
  return { ...request, follows };
}

/** Reads a request; what nobody can read stands for a change that nobody knows: no reconcile covers it, and one more does. */
export function requestOrReplay(text: string): Request {
  try {
    return parseRequest(text);
  } catch {
    return newRequest({ type: "replay" });
  }
}

/** What names the changed thing of a cause in a mark's subject: one mark per thing. */
export function subjectOfCause(cause: Cause): string {
  switch (cause.type) {
    case "object":
      return cause.uid;
    case "webhook":
      return cause.delivery;
    default:
      return cause.type;
  }
}
