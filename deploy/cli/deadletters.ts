/** `denrei deadletters list|show|replay` */
import {
  type AddressedDeadLetter,
  type Bus,
  type DeadLetter,
  deadLetters,
  keyText,
  streams,
  ticketQueue,
  workStream,
} from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { AbsentError, say, UsageError } from "denrei/runtime";
import { age } from "./age.ts";
import { type BusSettings, hasStream, withBus } from "./bus.ts";
import { functionName, functionNames, functionsNamed } from "./named.ts";
import { type NamedObject, objectKey } from "./objectkey.ts";

const messageWidth = 80;

/** The dead letters of a function; undefined on a bus that no worker has used yet. */
async function deadLettersOf(bus: Bus, fn: string, { cluster }: BusSettings) {
  return (await hasStream(bus, streams.deadLetters)) ? deadLetters(bus, { fn, cluster }) : undefined;
}

/** Prints all dead letters, newest first. */
export async function list(
  settings: BusSettings,
  options: { function?: string; json?: boolean },
): Promise<void> {
  const names =
    options.function === undefined ? await functionNames() : [await functionName(options.function)];
  const listed = await withBus(settings, (bus) =>
    Promise.all(names.map(async (fn) => (await deadLettersOf(bus, fn, settings))?.list())),
  );
  const found = listed.flatMap((all) => all ?? []);
  found.sort((a, b) => b.letter.time.localeCompare(a.letter.time));
  if (options.json) return say(JSON.stringify(found, null, 2));
  if (found.length === 0) return say("No dead letters.");
  const row = ({ fn, key, letter }: AddressedDeadLetter): string[] => [
    fn,
    keyText(key),
    letter.reason,
    String(letter.attempts),
    age(letter.time),
    shortened(letter.message),
  ];
  say(aligned([["FUNCTION", "OBJECT", "REASON", "ATTEMPTS", "AGE", "MESSAGE"], ...found.map(row)]));
}

function shortened(message: string): string {
  const line = message.replaceAll(/\s+/g, " ");
  return line.length > messageWidth ? `${line.slice(0, messageWidth - 1)}…` : line;
}

/** Prints all fields of a dead letter. */
export async function show(
  fn: string,
  object: string,
  settings: BusSettings,
  options: { json?: boolean },
): Promise<void> {
  const named = await namedObject(fn, object, settings, "show");
  const letter = await withBus(settings, async (bus) => {
    const key = await objectKey(bus, named);
    return (await deadLettersOf(bus, fn, settings))?.get(key);
  });
  if (letter === undefined) throw missing(fn, object);
  if (options.json) return say(JSON.stringify(letter, null, 2));
  const { stack, message, cause, ...rest } = letter;
  const lines = { function: fn, object, ...rest, cause: causeText(cause) };
  say(aligned(Object.entries(lines).map(([name, value]) => [`${name}:`, String(value)])));
  // An error's stack usually starts with its message.
  say(`\n${stack?.includes(message) ? stack : [message, stack].filter(Boolean).join("\n")}`);
}

/** An object of the function's kind. Throws a `UsageError` for an unknown function. */
async function namedObject(
  fn: string,
  text: string,
  { cluster }: BusSettings,
  command: "show" | "replay",
): Promise<NamedObject> {
  const [loaded] = await functionsNamed([await functionName(fn)]);
  if (loaded === undefined) throw new Error(`the function ${fn} did not load`);
  const { kind, scope } = loaded.for;
  return {
    ...{ text, cluster, kind: { kind, scope }, functions: [fn] },
    command: `denrei deadletters ${command} ${fn}`,
  };
}

/** The cause of a reconcile in words. */
export function causeText(cause: DeadLetter["cause"]): string {
  switch (cause.type) {
    case "object":
      return `${cause.kind} ${keyText(cause)} at resourceVersion ${cause.resourceVersion}`;
    case "webhook":
      return `webhook ${cause.provider} ${cause.event}, delivery ${cause.delivery}`;
    default:
      return cause.type;
  }
}

/** Replays one dead letter, or all of a function. */
export async function replay(
  fn: string,
  object: string | undefined,
  settings: BusSettings,
  options: { all?: boolean },
): Promise<void> {
  await functionName(fn);
  if ((object === undefined) === (options.all !== true)) {
    throw new UsageError(
      object === undefined ? "specify an object or --all" : "specify either an object or --all, not both",
    );
  }
  const named = object === undefined ? undefined : await namedObject(fn, object, settings, "replay");
  await withBus(settings, async (bus) => {
    const wanted = named && keyText(await objectKey(bus, named));
    const stored = await deadLettersOf(bus, fn, settings);
    const all = (await stored?.list()) ?? [];
    const selected = all
      .map(({ key }) => key)
      .filter((key) => wanted === undefined || keyText(key) === wanted);
    if (object !== undefined && selected.length === 0) throw missing(fn, object);
    if (stored === undefined || selected.length === 0) return say("No dead letters.");
    if (!(await hasStream(bus, workStream(fn)))) {
      throw new AbsentError(
        `the stream ${workStream(fn)} does not exist on the bus. Start a worker, which creates it: denrei worker ${fn}`,
      );
    }
    const queue = ticketQueue(bus, { fn, cluster: settings.cluster }, { replica: "denrei-cli" });
    for (const key of selected) {
      await stored.replay(queue, key);
      say(`${fn} will reconcile ${keyText(key)} again.`);
    }
  });
}

const missing = (fn: string, object: string): AbsentError =>
  new AbsentError(
    `${fn} has no dead letter for ${object}. List dead letters with \`denrei deadletters list\`.`,
  );
