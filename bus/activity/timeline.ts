/** Everything that happened to an object or in a trace, from the webhook to the write: of all that the bus remembers. */

import { attribute } from "../events/attributes.ts";
import { traceId } from "../events/trace.ts";
import type { Bus } from "../nats/connect.ts";
import { type AddressedDeadLetter, deadLetters } from "../queue/deadletters.ts";
import { keyText } from "../subjects.ts";
import { activityHours } from "../topology/streams.ts";
import { deliveries, type StoredDelivery } from "../webhooks/history.ts";
import {
  type ActivityScope,
  type SearchTarget,
  type StoredActivity,
  searchActivity,
  traceIn,
} from "./history.ts";

/** Something that happened. Times are milliseconds since the epoch. */
export type TimelineEvent = { readonly at: number; readonly trace: string | undefined } & (
  | { readonly type: "webhook"; readonly delivery: StoredDelivery }
  | { readonly type: "reconcile"; readonly activity: StoredActivity }
  | { readonly type: "deadletter"; readonly letter: AddressedDeadLetter }
);

/** What is wanted. */
export interface TimelineQuery {
  readonly cluster: string;
  /** Whose records are shown: namespaces of the objects that were reconciled. */
  readonly namespaces: ActivityScope["namespaces"];
  readonly searched: SearchTarget;
  /** All functions. */
  readonly functions: readonly string[];
  /** Functions that reconcile the object. */
  readonly reconciledBy?: readonly string[];
  /** A cursor of an earlier answer. */
  readonly before?: string | undefined;
  /** Records at the most. */
  readonly limit?: number;
  /** How long to look for more of them, in milliseconds. */
  readonly millis?: number;
}

/** A part of it. */
export interface Timeline {
  /** The oldest first. */
  readonly events: readonly TimelineEvent[];
  /** Cursor to what was before, which may be nothing that was looked for; undefined when all was looked at. */
  readonly before: string | undefined;
  /** Of what else happened, this is the part: milliseconds since the epoch, from the first to before the second. */
  readonly between: readonly [from: number, to: number];
}

const defaultLimit = 200;
/** As long as a person waits without wondering. */
const defaultMillis = 2000;
/** A webhook lies so long before the reconcile that it caused at the most: that may have been tried again meanwhile. */
const webhookMillis = 2 * 3_600_000;
/** Letters that are looked for at the most. */
const maxDeadLetters = 50;

/** A cursor that is none. */
export class CursorError extends Error {
  override readonly name = "CursorError";
}

/** Reads the newest part, or the one before a cursor. Throws a {@link CursorError}. */
export async function timeline(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  query: TimelineQuery,
): Promise<Timeline> {
  const { cluster, namespaces, searched, functions, reconciledBy = [] } = query;
  const { limit = defaultLimit, millis = defaultMillis } = query;
  const end = cursorIn(query.before);
  const { found, before } = await searchActivity(bus, { cluster, namespaces, functions }, searched, {
    ...{ limit, millis, before: end },
  });
  const between = [millisOf(before) ?? 0, millisOf(end) ?? Number.POSITIVE_INFINITY] as const;
  const isWithin = ({ at }: TimelineEvent): boolean => at >= between[0] && at < between[1];
  const reconciles = found.map(
    (activity): TimelineEvent => ({
      type: "reconcile",
      at: activity.record.startedAt,
      trace: traceId(activity.record.traceparent),
      activity,
    }),
  );
  const [webhooks, letters] = await Promise.all([
    webhooksOf(bus, found, "trace" in searched && namespaces === "every" ? searched.trace : undefined),
    deadLettersOf(bus, cluster, found, searched, reconciledBy),
  ]);
  const events = [...webhooks, ...reconciles, ...letters.filter(isWithin)].sort((a, b) => a.at - b.at);
  return { events, before: before === undefined ? undefined : String(before), between };
}

/** The last time that a program of this century can mean, in nanoseconds since the epoch. */
const endOfTime = BigInt(Date.UTC(2200, 0)) * 1_000_000n;

/** A time: nanoseconds since the epoch. */
function cursorIn(text: string | undefined): bigint | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > endOfTime)
    throw new CursorError(`expected a cursor of an answer before, found "${text}"`);
  return BigInt(text);
}

const millisOf = (nanos: bigint | undefined): number | undefined =>
  nanos === undefined ? undefined : Number(nanos / 1_000_000n);

/** The webhooks that records name as causes, and those of a trace. */
async function webhooksOf(
  bus: Pick<Bus, "inbox">,
  found: readonly StoredActivity[],
  trace: string | undefined,
): Promise<TimelineEvent[]> {
  const wanted = new Map<string, string | undefined>();
  for (const { record } of found)
    for (const cause of record.causes)
      if (cause.type === "webhook" && !wanted.has(cause.delivery))
        wanted.set(cause.delivery, traceId(record.traceparent));
  const id = trace && traceIn(trace);
  if (wanted.size === 0 && id === undefined) return [];
  const begin = Math.min(Date.now(), ...found.map(({ record }) => record.startedAt - record.waitedMillis));
  const since = new Date(id === undefined ? begin - webhookMillis : Date.now() - activityHours * 3_600_000);
  const events: TimelineEvent[] = [];
  for await (const delivery of deliveries(bus, { since })) {
    const own = traceId(attribute(delivery.message.headers, "traceparent") || undefined);
    if (!wanted.has(delivery.delivery) && (id === undefined || own !== id)) continue;
    const at = Date.parse(delivery.time);
    events.push({ type: "webhook", at, trace: own ?? wanted.get(delivery.delivery), delivery });
  }
  return events;
}

/** The letters of the object, or of the objects that the trace was about. */
async function deadLettersOf(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  cluster: string,
  found: readonly StoredActivity[],
  searched: SearchTarget,
  reconciledBy: readonly string[],
): Promise<TimelineEvent[]> {
  const places = new Map<string, Pick<AddressedDeadLetter, "fn" | "key">>();
  if ("object" in searched) {
    const { namespace, name } = searched.object;
    for (const fn of reconciledBy)
      places.set(`${fn} ${keyText({ namespace, name })}`, { fn, key: { namespace, name } });
  } else for (const { fn, key } of found) places.set(`${fn} ${keyText(key)}`, { fn, key });
  const id = "trace" in searched ? traceIn(searched.trace) : undefined;
  const letters = await Promise.all(
    [...places.values()].slice(0, maxDeadLetters).map(async ({ fn, key }): Promise<TimelineEvent[]> => {
      const letter = await deadLetters(bus, { fn, cluster }).get(key);
      if (letter === undefined) return [];
      const trace = traceId(letter.traceparent);
      if (id !== undefined && trace !== id) return [];
      return [
        { type: "deadletter", at: Date.parse(letter.time), trace, letter: { fn, cluster, key, letter } },
      ];
    }),
  );
  return letters.flat();
}
