/** `denrei history` */
import { keyText, parseKeyText, type SearchTarget, streams, type TimelineEvent, timeline } from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { kindsOf, type ReconcileFunction, say, UsageError } from "denrei/runtime";
import { type BusSettings, hasStream, withBus } from "./bus.ts";
import { causeText } from "./deadletters.ts";
import { allFunctions } from "./named.ts";

type Functions = readonly ReconcileFunction[];

/** Options of the command line. */
export interface HistoryOptions {
  readonly trace?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Longer than on the dashboard. Milliseconds. */
const searchMillis = 60_000;

/** Prints the history of an object or a trace, oldest first. */
export async function history(
  what: string | undefined,
  object: string | undefined,
  settings: BusSettings,
  { trace, limit, json }: HistoryOptions,
): Promise<void> {
  const functions = await allFunctions();
  const searched = searchedFor(functions, what, object, trace);
  const { cluster } = settings;
  const { events, before } = await withBus(settings, async (bus) =>
    (await hasStream(bus, streams.deadLetters))
      ? timeline(bus, {
          cluster,
          namespaces: "every",
          searched,
          functions: functions.map(({ name }) => name),
          reconciledBy: functionsOf(functions, searched),
          limit,
          millis: searchMillis,
        })
      : { events: [], before: undefined },
  );
  if (json) return say(JSON.stringify(events.map(fields), null, 2));
  if (events.length === 0) return say("No history. Activity is kept for one day.");
  say(aligned([["TIME", "WHAT", "BY", "TRACE"], ...events.flatMap(rows)]));
  if (before !== undefined)
    say(`\nEarlier reconciles are not shown. Raise --limit (now ${limit}) to see them.`);
}

function searchedFor(
  functions: Functions,
  what: string | undefined,
  object: string | undefined,
  trace: string | undefined,
): SearchTarget {
  if (trace !== undefined) {
    if (what !== undefined) throw new UsageError("specify either an object or --trace, not both");
    return { trace };
  }
  if (what === undefined || object === undefined)
    throw new UsageError(
      `specify a kind (or function) and an object, or --trace${what === undefined ? "" : `: the object of ${what} is missing`}`,
    );
  return { object: { ...kindNamed(functions, what), ...parseKeyText(object) } };
}

function kindNamed(functions: Functions, name: string): { readonly group: string; readonly kind: string } {
  const lowerCase = name.toLowerCase();
  const known = functions.flatMap(kindsOf);
  const kind =
    functions.find((fn) => fn.name === lowerCase)?.for ??
    known.find(({ kind, group }) => lowerCase === (group === "" ? kind : `${kind}.${group}`).toLowerCase()) ??
    known.find((one) => [one.kind.toLowerCase(), one.plural].includes(lowerCase));
  if (kind === undefined)
    throw new UsageError(
      `unknown kind or function "${name}". Kinds: ${[...new Set(known.map((one) => one.kind))].sort().join(", ")}`,
    );
  return { group: kind.group, kind: kind.kind };
}

const functionsOf = (functions: Functions, searched: SearchTarget): string[] =>
  "object" in searched
    ? functions
        .filter((fn) => fn.for.kind === searched.object.kind && fn.for.group === searched.object.group)
        .map(({ name }) => name)
    : [];

const time = (at: number): string => new Date(at).toISOString();

function fields(entry: TimelineEvent): object {
  const { at, trace, type } = entry;
  const common = { type, time: time(at), ...(trace !== undefined && { trace }) };
  switch (entry.type) {
    case "webhook": {
      const { message: _message, data: _data, ...delivery } = entry.delivery;
      return { ...common, ...delivery };
    }
    case "reconcile": {
      const { fn, key, record } = entry.activity;
      return { ...common, function: fn, ...key, ...record };
    }
    case "deadletter": {
      const { fn, key, letter } = entry.letter;
      return { ...common, function: fn, ...key, ...letter };
    }
  }
}

/** One row, and one for each write. */
function rows(entry: TimelineEvent): string[][] {
  const { at, trace = "-" } = entry;
  const row = (what: string, by: string): string[] => [time(at), what, by, trace];
  switch (entry.type) {
    case "webhook": {
      const { event, delivery, owner, repository } = entry.delivery;
      return [row(`webhook ${event}, delivery ${delivery}`, [owner, repository].filter(Boolean).join("/"))];
    }
    case "deadletter": {
      const { fn, key, letter } = entry.letter;
      return [row(`dead letter of ${fn} ${keyText(key)}: ${letter.reason}`, letter.replica)];
    }
    case "reconcile": {
      const { fn, key, record } = entry.activity;
      const { outcome, nextInMillis, tookMillis, waitedMillis, error, replica, writes, moreWrites } = record;
      const cause = record.causes[0];
      const next = nextInMillis === undefined ? "" : ` in ${nextInMillis} ms`;
      const parts = [
        `${fn} ${keyText(key)}: ${outcome}${next}`,
        ...(error ? [error.name] : []),
        ...(cause ? [`for ${causeText(cause)}`] : []),
        `waited ${waitedMillis} ms, took ${tookMillis} ms`,
      ];
      return [
        row(parts.join(", "), replica),
        ...writes.map((write) => ["", `  ${write.verb} ${write.kind} ${keyText(write)}`, "", ""]),
        ...(moreWrites > 0 ? [["", `  and ${moreWrites} more writes`, "", ""]] : []),
      ];
    }
  }
}
