/** Describes everything known about an object that did not become as expected. */
import { type Bus, keyText, type ObjectKey } from "denrei/bus";
import { kindText } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import { kindsOf, type ReconcileFunction } from "denrei/runtime";
import { stringify } from "yaml";
import { Event } from "./event.ts";
import type { keyState } from "./keystate.ts";
import { Lines } from "./lines.ts";
import type { Target } from "./watching.ts";

/** The sources of the description. */
export interface Sources {
  readonly client: KubeClient;
  readonly bus: Bus;
  readonly functions: readonly ReconcileFunction[];
  /** Reads the state of the queue, as far as the bus user may. */
  readonly queue: typeof keyState;
  /** The lines that the functions have logged. */
  readonly log: () => Promise<readonly string[]>;
}

const lastLines = 20;
const indented = (text: string) => text.trimEnd().replaceAll(/^/gm, "    ");
const section = (title: string, lines: readonly string[]) =>
  `  ${title}:\n${indented(lines.length === 0 ? "none" : lines.join("\n"))}`;

/** Denied requests, object, Events, log, and queue as text. A source that fails is reported in its section. */
export async function describe(sources: Sources, { kind, at }: Pick<Target, "kind" | "at">): Promise<string> {
  const key: ObjectKey = { namespace: at.namespace ?? "", name: at.name };
  const isOf = (fn: ReconcileFunction) => kindText(fn.for) === kindText(kind);
  const functions = sources.functions.filter(isOf);
  const denied = deniedRequests(functions.length === 0 ? [] : await sources.log().catch(() => []), key);
  const parts = await Promise.all([
    ...(denied.length === 0 ? [] : [section("denied requests", denied)]),
    sectionOf("object", () => objectLines(sources, kind, at)),
    sectionOf("Events", () => eventLines(sources, kind.kind, at)),
    ...(functions.length === 0 ? [] : [sectionOf("log", async () => logLines(await sources.log(), key))]),
    ...functions.map((fn) =>
      sectionOf("queue", async () => [
        await sources.queue(sources.bus, { fn: fn.name, cluster: "default" }, key),
      ]),
    ),
  ]);
  const others = sources.functions.filter(
    (fn) => !isOf(fn) && kindsOf(fn).some((one) => kindText(one) === kindText(kind)),
  );
  const note =
    others.length === 0 ? "" : ` (a change of it triggers ${others.map(({ name }) => name).join(", ")})`;
  return `${kind.kind} ${keyText(key)}${note}\n${parts.join("\n")}`;
}

async function sectionOf(title: string, ask: () => Promise<readonly string[]>): Promise<string> {
  try {
    return section(title, await ask());
  } catch (error) {
    return section(title, [`not available: ${(error as Error).message}`]);
  }
}

async function objectLines({ client }: Sources, kind: Target["kind"], at: Target["at"]): Promise<string[]> {
  try {
    const object = await client.get(kind, at);
    const { managedFields: _, ...metadata } = object.metadata as typeof object.metadata & {
      managedFields?: unknown;
    };
    return [stringify({ ...object, metadata })];
  } catch (error) {
    if (isNotFound(error)) return ["not found"];
    throw error;
  }
}

async function eventLines({ client }: Sources, kind: string, at: Target["at"]): Promise<string[]> {
  // Events about cluster-scoped objects are in `default`.
  const { items } = await client.list(Event, at.namespace ?? "default");
  return items
    .filter(({ regarding }) => regarding.kind === kind && regarding.name === at.name)
    .map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
}

/** Messages of requests for the object that the API server denied, each once. They name the permission to add. */
function deniedRequests(lines: readonly string[], key: ObjectKey): string[] {
  const log = new Lines();
  for (const line of lines) log.push(line);
  const errors = log
    .records()
    .filter((record) => record.key === keyText(key))
    .map(({ err }) => err as { readonly message: string; readonly isDenied?: boolean } | undefined);
  return [...new Set(errors.flatMap((err) => (err?.isDenied ? [err.message] : [])))];
}

/** The last log lines about the object, or the last of all when none is about it. */
function logLines(lines: readonly string[], key: ObjectKey): string[] {
  const log = new Lines();
  for (const line of lines) log.push(line);
  const all = log.records();
  const about = all.filter((record) => record.key === keyText(key));
  if (about.length > 0) return about.slice(-lastLines).map(logLine);
  return ["nothing about it; the last lines of all:", ...all.slice(-5).map(logLine)];
}

function logLine(record: Record<string, unknown>): string {
  const { time, level, msg, err, ...more } = record;
  const { process: _, replica: __, function: ___, key: ____, trace_id: _____, ...rest } = more;
  const failure = err as { readonly message?: string; readonly stack?: string } | undefined;
  const parts = [
    String(time).slice(11, 23),
    String(level),
    String(msg),
    Object.keys(rest).length === 0 ? "" : JSON.stringify(rest),
    failure?.stack ?? failure?.message ?? "",
  ];
  return parts.filter(Boolean).join(" ");
}
