/** The timeline of an object or a trace, from the webhook to the write, as far back as the bus keeps it. */

import { attribute } from "../events/attributes.ts";
import type { Bus } from "../nats/connect.ts";
import { type AddressedDeadLetter, deadLetters } from "../queue/deadletters.ts";
import { keyText } from "../subjects.ts";
import { activityHours } from "../topology/streams.ts";
import { traceId } from "../tracing/trace.ts";
import { deliveries, type StoredDelivery, webhookMillis } from "../webhooks/history.ts";
import { type SearchTarget, searchActivity, traceIn } from "./history.ts";
import type { ActivityScope, StoredActivity } from "./stream.ts";

/** An event of a timeline. Times are milliseconds since the epoch. */
export type TimelineEvent = { readonly at: number; readonly trace: string | undefined } & (
  | { readonly type: "webhook"; readonly delivery: StoredDelivery }
  | { readonly type: "reconcile"; readonly activity: StoredActivity }
  | { readonly type: "deadletter"; readonly letter: AddressedDeadLetter }
);

/** A query for a part of a timeline. */
export interface TimelineQuery {
  readonly cluster: string;
  /** Namespaces of the reconciled objects whose records are shown. */
  readonly namespaces: ActivityScope["namespaces"];
  readonly searched: SearchTarget;
  /** All functions. */
  readonly functions: readonly string[];
  /** Functions that reconcile the object. */
  readonly reconciledBy?: readonly string[];
  /** The cursor of an earlier answer. */
  readonly before?: string | undefined;
  /** Maximum number of records. */
  readonly limit?: number;
  /** Time limit of the search, in milliseconds. */
  readonly millis?: number;
}

/** A part of a timeline. */
export interface Timeline {
  /** Oldest first. */
  readonly events: readonly TimelineEvent[];
  /** Cursor to the part before this one, which may be empty; undefined after a full search. */
  readonly before: string | undefined;
  /** The time span of this part, in milliseconds since the epoch, including `from` and excluding `to`. */
  readonly between: readonly [from: number, to: number];
}

const defaultLimit = 200;
/** As long as a user waits without noticing. */
const defaultMillis = 2000;
/** Objects whose dead letters are read at most. */
const maxDeadLetters = 50;

/** An invalid cursor. */
export class CursorError extends Error {
  override readonly name = "CursorError";
}

/** Reads the newest part of a timeline, or the part before a cursor. Throws a {@link CursorError}. */
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

/** The latest time accepted in a cursor, in nanoseconds since the epoch. */
const endOfTime = BigInt(Date.UTC(2200, 0)) * 1_000_000n;

/** A time: nanoseconds since the epoch. */
function cursorIn(text: string | undefined): bigint | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > endOfTime)
    throw new CursorError(`"${text}" is not a cursor of an earlier answer`);
  return BigInt(text);
}

const millisOf = (nanos: bigint | undefined): number | undefined =>
  nanos === undefined ? undefined : Number(nanos / 1_000_000n);

/** The webhooks that caused these records, and the webhooks of the trace. */
async function webhooksOf(
  bus: Pick<Bus, "inbox">,
  found: readonly StoredActivity[],
  trace: string | undefined,
): Promise<TimelineEvent[]> {
  const traceOfDelivery = new Map<string, string | undefined>();
  for (const { record } of found)
    for (const cause of record.causes)
      if (cause.type === "webhook" && !traceOfDelivery.has(senderText(cause)))
        traceOfDelivery.set(senderText(cause), traceId(record.traceparent));
  const id = trace && traceIn(trace);
  if (traceOfDelivery.size === 0 && id === undefined) return [];
  const begin = Math.min(Date.now(), ...found.map(({ record }) => record.startedAt - record.waitedMillis));
  const since = new Date(id === undefined ? begin - webhookMillis : Date.now() - activityHours * 3_600_000);
  const events: TimelineEvent[] = [];
  for await (const delivery of deliveries(bus, { since })) {
    const own = traceId(attribute(delivery.message.headers, "traceparent") || undefined);
    const sender = senderText(delivery);
    if (!traceOfDelivery.has(sender) && (id === undefined || own !== id)) continue;
    const at = Date.parse(delivery.time);
    events.push({ type: "webhook", at, trace: own ?? traceOfDelivery.get(sender), delivery });
  }
  return events;
}

/** Ids of deliveries are unique for one provider. */
const senderText = ({ provider, delivery }: { readonly provider: string; readonly delivery: string }) =>
  `${provider} ${delivery}`;

/** The dead letters of the object, or of the objects in the trace. */
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
