/** `denrei history` */
import { type Bus, keyText, streams, type Timeline, type TimelineEvent, timeline } from "denrei/bus";
import type { Kind } from "denrei/kinds";
import { aligned } from "denrei/kubernetes";
import { kindsOf, type ReconcileFunction, say, UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";
import { type BusSettings, hasStream, withBus } from "./bus.ts";
import { causeText } from "./deadletters.ts";
import { allFunctions } from "./named.ts";
import { type NamedObject, objectKey, whereKnown } from "./objectkey.ts";

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
  const target = targetOf(functions, what, object, settings, trace);
  const { events, before, elsewhere } = await withBus(settings, (bus) =>
    read(bus, functions, target, settings, limit),
  );
  if (json) return say(JSON.stringify(events.map(fields), null, 2));
  if (events.length === 0) return say(`No history. Activity is kept for one day.${elsewhere}`);
  say(aligned([["TIME", "WHAT", "BY", "TRACE"], ...events.flatMap(rows)]));
  if (before !== undefined)
    say(`\nEarlier reconciles are not shown. Raise --limit (now ${limit}) to see them.`);
}

/** An object or a trace, as the user names it. */
type Target = { readonly trace: string } | (NamedObject & { readonly kind: Kind });

interface FoundHistory extends Pick<Timeline, "events" | "before"> {
  /** Where the bus knows an object of this name if there is no history; empty otherwise. */
  readonly elsewhere: string;
}

async function read(
  bus: Bus,
  functions: Functions,
  target: Target,
  { cluster }: BusSettings,
  limit: number,
): Promise<FoundHistory> {
  const isTrace = "trace" in target;
  const searched = isTrace ? target : { object: { ...target.kind, ...(await objectKey(bus, target)) } };
  if (!(await hasStream(bus, streams.deadLetters))) return { events: [], before: undefined, elsewhere: "" };
  const { events, before } = await timeline(bus, {
    cluster,
    namespaces: "every",
    searched,
    functions: functions.map(({ name }) => name),
    reconciledBy: isTrace ? [] : target.functions,
    limit,
    millis: searchMillis,
  });
  const elsewhere = events.length > 0 || isTrace ? "" : await whereKnown(bus, target);
  return { events, before, elsewhere };
}

function targetOf(
  functions: Functions,
  what: string | undefined,
  object: string | undefined,
  { cluster }: BusSettings,
  trace: string | undefined,
): Target {
  if (trace !== undefined) {
    if (what !== undefined) throw new UsageError("specify either an object or --trace, not both");
    return { trace };
  }
  if (what === undefined || object === undefined)
    throw new UsageError(
      `specify a kind (or function) and an object, or --trace${what === undefined ? "" : `: the object of ${what} is missing`}`,
    );
  const kind = kindNamed(functions, what);
  const reconcilers = functions.filter((fn) => fn.for.kind === kind.kind && fn.for.group === kind.group);
  return {
    ...{ text: object, kind, cluster, command: `denrei history ${what}` },
    functions: reconcilers.map(({ name }) => name),
  };
}

function kindNamed(functions: Functions, name: string): Kind {
  const lowerCase = name.toLowerCase();
  const known = functions.flatMap(kindsOf);
  const kind =
    functions.find((fn) => fn.name === lowerCase)?.for ??
    known.find(({ kind, group }) => lowerCase === (group === "" ? kind : `${kind}.${group}`).toLowerCase()) ??
    known.find((one) => [one.kind.toLowerCase(), one.plural].includes(lowerCase));
  if (kind !== undefined) return kind;
  const kinds = [...new Set(known.map((one) => one.kind))].sort();
  const names = [...kinds, ...known.map(({ plural }) => plural), ...functions.map((fn) => fn.name)];
  throw new UsageError(
    `unknown kind or function "${name}"${didYouMean(name, names)}. Kinds: ${kinds.join(", ")}`,
  );
}

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
      const { provider, event, delivery, owner, repository } = entry.delivery;
      const what = `webhook ${provider} ${event}, delivery ${delivery}`;
      return [row(what, [owner, repository].filter(Boolean).join("/"))];
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
