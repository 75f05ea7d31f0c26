/** History of an object or a trace: records on the bus, and Kubernetes Events. */
import {
  type Bus,
  keyText,
  type ObjectOfKind,
  type SearchTarget,
  type TimelineEvent,
  timeline,
} from "denrei/bus";
import { ApiError } from "denrei/kubernetes";
import type { ReconcileFunction } from "denrei/runtime";
import type { EventEntry, History, HistoryEntry } from "../../api/bus.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";
import { requestJson } from "../kubernetes/responses.ts";
import { apiObject, apiTime } from "./apivalues.ts";
import { reconcileEntry, webhookEntry } from "./entries.ts";

/** Dependencies of {@link historyOf}. */
export interface HistoryContext {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly apiServer: Pick<ApiServer, "request">;
  readonly token: string;
  mayListDeadLetters(namespace: string): Promise<boolean>;
  mayReplay(namespace: string): Promise<boolean>;
}

/** The requested part of the history. */
export interface HistoryQuery {
  readonly searched: SearchTarget;
  readonly namespaces: readonly string[] | "every";
  readonly before: string | undefined;
}

const maxEvents = 200;

interface TimedEntry {
  readonly at: number;
  readonly trace: string | undefined;
  readonly entry: HistoryEntry;
}

/** Reads a page of the history, grouped by trace. Throws a `CursorError`. */
export async function historyOf(context: HistoryContext, query: HistoryQuery): Promise<History> {
  const { bus, cluster, functions } = context;
  const { searched, namespaces, before } = query;
  const object = "object" in searched ? searched.object : undefined;
  const about = functions.filter(
    ({ for: { group, kind } }) => object?.kind === kind && object.group === group,
  );
  const [found, events] = await Promise.all([
    timeline(bus, {
      ...{ cluster, namespaces, searched, before },
      functions: functions.map(({ name }) => name),
      reconciledBy: about.map(({ name }) => name),
    }),
    object === undefined ? [] : eventsOf(context, object),
  ]);
  const [from, to] = found.between;
  const timed = await Promise.all(found.events.map((event) => timedEntries(context, event)));
  const seen = [...timed.flat(), ...events.filter(({ at }) => at >= from && at < to)];
  seen.sort((a, b) => a.at - b.at);
  const traces = new Map<string | null, HistoryEntry[]>();
  for (const { trace = null, entry } of seen) {
    const entries = traces.get(trace) ?? [];
    entries.push(entry);
    traces.set(trace, entries);
  }
  return {
    traces: [...traces].map(([trace, entries]) => ({ trace, entries })),
    before: found.before ?? null,
  };
}

async function timedEntries(context: HistoryContext, timelineEvent: TimelineEvent): Promise<TimedEntry[]> {
  const { at, trace } = timelineEvent;
  const entry = await entryOf(context, timelineEvent);
  return entry === undefined ? [] : [{ at, trace, entry }];
}

async function entryOf(
  context: HistoryContext,
  timelineEvent: TimelineEvent,
): Promise<HistoryEntry | undefined> {
  const at = apiTime(timelineEvent.at);
  switch (timelineEvent.type) {
    case "webhook":
      return webhookEntry(timelineEvent.delivery);
    case "deadletter": {
      const { fn, key, letter } = timelineEvent.letter;
      if (!(await context.mayListDeadLetters(key.namespace))) return undefined;
      const { reason, message, attempts } = letter;
      return {
        ...{ type: "deadletter", id: `deadletter-${fn}-${keyText(key)}-${letter.time}`, at, function: fn },
        ...{ object: apiObject(context.functions, fn, key), reason, message, attempts },
        mayReplay: await context.mayReplay(key.namespace),
      };
    }
    case "reconcile":
      return reconcileEntry(timelineEvent.activity);
  }
}

/** The part of a Kubernetes Event that is read. */
interface KubernetesEvent {
  readonly metadata: { readonly uid: string; readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly source?: { readonly component?: string };
  readonly involvedObject: { readonly apiVersion?: string };
}

/** The Events of an object, with the user's token. Empty if the user may not list Events. */
async function eventsOf({ apiServer, token }: HistoryContext, object: ObjectOfKind): Promise<TimedEntry[]> {
  const { group, kind, namespace, name } = object;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const query = new URLSearchParams({ fieldSelector, limit: String(maxEvents) });
  try {
    const { items } = await requestJson<{ items: KubernetesEvent[] }>(apiServer, {
      path: `/api/v1/namespaces/${encodeURIComponent(namespace || "default")}/events?${query}`,
      token,
      signal: AbortSignal.timeout(10_000),
    });
    return items
      .filter(({ involvedObject: { apiVersion = "" } }) => (apiVersion.split("/").at(-2) ?? "") === group)
      .map((event) => timedEvent(event));
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return [];
    throw error;
  }
}

function timedEvent(event: KubernetesEvent): TimedEntry {
  const { metadata, series, lastTimestamp, eventTime, source } = event;
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  const at = Date.parse(time ?? "") || 0;
  const entry: EventEntry = {
    ...{ type: "event", id: `event-${metadata.uid}`, at: apiTime(at) },
    severity: event.type === "Warning" ? "Warning" : "Normal",
    reason: event.reason ?? "",
    note: event.message ?? "",
    count: series?.count ?? event.count ?? 1,
    reporter: event.reportingComponent || source?.component || "",
  };
  return { at, trace: undefined, entry };
}
