/** Observations of the workers that reconcile shelves, and the checks of the final state. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { childText, journalEnding, Shelf, type Sighting } from "../fixtures/functions/shelves.ts";
import type { Bridged } from "../harness/bridged.ts";
import type { History, ObjectMessage } from "../harness/history.ts";
import { type Check, figure, noneOf } from "./scenario.ts";
import type { ConfirmedWrite } from "./shelving.ts";

/** Without a loss, the last change is reconciled quickly. Milliseconds. */
const deadlineMillis = 60_000;

/** All observations of the workers, oldest first. */
export async function readSightings(folder: string): Promise<Sighting[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(journalEnding));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Sighting)
    .sort((a, b) => a.at - b.at);
}

/** Waits for the first reconcile of a shelf. */
export async function firstReconcile(folder: string, signal: AbortSignal): Promise<Sighting> {
  for (const until = performance.now() + deadlineMillis; performance.now() < until; ) {
    const found = (await readSightings(folder)).find(({ did }) => did === "reconcile");
    if (found !== undefined) return found;
    await sleep(200, undefined, { signal });
  }
  throw new Error(`expected a reconcile of a shelf within ${deadlineMillis} ms, found none in ${folder}`);
}

/** The state to check. */
interface FinalState {
  readonly shelves: readonly Stored<Shelf>[];
  readonly notes: readonly Stored<Note>[];
  readonly sightings: readonly Sighting[];
}

/** How the last reconcile of a shelf differs from the current objects. */
interface Difference {
  readonly text: string;
  /** The objects involved. */
  readonly names: readonly string[];
}

function differences({ shelves, notes, sightings }: FinalState): Difference[] {
  const last = new Map(sightings.map((sighting) => [sighting.uid, sighting]));
  const byOwner = Map.groupBy(notes, (note) => controllerOf(note)?.uid);
  return shelves.flatMap(({ metadata }) => {
    const { name, uid, resourceVersion } = metadata;
    if (metadata.deletionTimestamp !== undefined)
      return [{ text: `${name} is waiting for its finalizer`, names: [name] }];
    const current = [`itself ${uid} ${resourceVersion}`, ...(byOwner.get(uid) ?? []).map(childText)];
    const seen = last.get(uid);
    const found = seen ? [`itself ${uid} ${seen.resourceVersion}`, ...seen.children] : [];
    const missing = current.filter((one) => !found.includes(one));
    const ghosts = found.filter((one) => !current.includes(one));
    if (missing.length + ghosts.length === 0) return [];
    const children = [...missing, ...ghosts].map((text) => text.split(" ", 1)[0] ?? "");
    const text = `${name}: not seen by its last reconcile: ${missing.join(", ") || "none"}; outdated there: ${ghosts.join(", ") || "none"}`;
    return [{ text, names: [name, ...children] }];
  });
}

/** Waits until every shelf is reconciled in its current state and every deleted one is finalized, and checks the result. */
export async function checkShelves(
  { environment, history }: Bridged,
  folder: string,
  writes: readonly ConfirmedWrite[],
): Promise<{ checks: Check[]; sightings: readonly Sighting[] }> {
  const poll = async (): Promise<FinalState> => {
    const [shelves, notes] = await Promise.all([environment.list(Shelf), environment.list(Note)]);
    return { shelves, notes, sightings: await readSightings(folder) };
  };
  const until = performance.now() + deadlineMillis;
  let state = await poll();
  let stale = differences(state);
  while (stale.length > 0 && performance.now() < until) {
    await sleep(500);
    state = await poll();
    stale = differences(state);
  }
  const { sightings } = state;
  const eventsOf = (names: readonly string[]) => historyOf(names, writes, history.all, sightings);
  return {
    checks: [
      staleReconciles(state, stale, eventsOf),
      missedFinalizers(state, eventsOf),
      deletedButOnBus(state, history, eventsOf),
    ],
    sightings,
  };
}

type EventsOf = (names: readonly string[]) => string[];

function staleReconciles(
  { shelves, notes }: FinalState,
  stale: readonly Difference[],
  eventsOf: EventsOf,
): Check {
  const [first] = stale;
  return {
    what: "shelves whose last reconcile saw stale data",
    limit: "0",
    found: `${figure(stale.length)} of ${figure(shelves.length)} with ${figure(notes.length)} notes`,
    holds: stale.length === 0 && shelves.length > 0 && notes.length > 0,
    ...(first && { history: [first.text, ...eventsOf(first.names)] }),
  };
}

/** The finalizer is added before the first reconcile, so every reconciled shelf must be finalized. */
function missedFinalizers(state: FinalState, eventsOf: EventsOf): Check {
  const existing = existingUids(state);
  const { sightings } = state;
  const reconciled = new Map(
    sightings.filter(({ did }) => did === "reconcile").map(({ uid, name }) => [uid, name]),
  );
  const finalized = new Set(sightings.filter(({ did }) => did === "finalize").map(({ uid }) => uid));
  const deleted = [...reconciled].filter(([uid]) => !existing.has(uid));
  const missed = deleted.filter(([uid]) => !finalized.has(uid));
  return noneOf("deleted shelves that were not finalized", missed.length, deleted.length, {
    history: missed[0] && eventsOf([missed[0][1]]),
  });
}

function deletedButOnBus(state: FinalState, history: History, eventsOf: EventsOf): Check {
  const existing = existingUids(state);
  // Only the last message on a subject counts, because another object may have taken over the name.
  const last = new Map(history.all.map((message) => [message.subject, message]));
  const ghosts = [...last.values()].filter(({ uid, change }) => change !== "deleted" && !existing.has(uid));
  const uids = new Set(history.all.map(({ uid }) => uid));
  const deleted = [...uids].filter((uid) => !existing.has(uid));
  return noneOf("deleted objects still on the bus", ghosts.length, deleted.length, {
    history: ghosts[0] && eventsOf([ghosts[0].at.name]),
  });
}

const existingUids = ({ shelves, notes }: FinalState): ReadonlySet<string> =>
  new Set([...shelves, ...notes].map(({ metadata }) => metadata.uid));

/** The events of the named objects in the API, on the bus, and in the workers, oldest first. */
export function historyOf(
  names: readonly string[],
  writes: readonly ConfirmedWrite[],
  messages: readonly ObjectMessage[],
  sightings: readonly Sighting[],
): string[] {
  const timeOf = ({ raw }: ObjectMessage): string => /^ce-time: (\S+)/m.exec(raw)?.[1] ?? "";
  const lines = [
    ...writes
      .filter(({ name }) => names.includes(name))
      .map(({ time, what, kind, name, uid, resourceVersion }) => [
        time,
        `API     ${what} ${kind} ${name} ${uid} at ${resourceVersion || "?"}`,
      ]),
    ...messages
      .filter(({ at }) => names.includes(at.name))
      .map((message) => [
        timeOf(message),
        `OBJECTS ${message.change} ${message.subject} ${message.uid} at ${message.resourceVersion}, message ${message.sequence}`,
      ]),
    ...sightings
      .filter(({ name }) => names.includes(name))
      .map(({ time, replica, did, name, uid, resourceVersion, children }) => [
        time,
        `worker  ${replica} ${did} ${name} ${uid} at ${resourceVersion} with ${children.join(", ") || "no notes"}`,
      ]),
  ];
  return lines.sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0)).map((line) => line.join(" "));
}
