/** Writes of shelves and notes that continue through every fault, and the checks of the final state. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists, isConflict, isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerOf, controllerReference, type Stored } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { childText, journalEnding, Shelf, type Sighting } from "../fixtures/functions/shelves.ts";
import type { Bridged } from "../harness/bridged.ts";
import type { ObjectMessage } from "../harness/history.ts";
import { type Check, figure, type Trial } from "./scenario.ts";

/** A write that the API server has confirmed. */
export interface Deed {
  /** RFC 3339. */
  readonly time: string;
  readonly what: "created" | "changed" | "deleted" | "moved";
  readonly kind: string;
  readonly name: string;
  /** The resource version in the response, if any. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Running writes. */
export interface Shelving {
  readonly writes: readonly Deed[];
  /**
   * Moves the writes on to the objects of a new cohort, its predecessor, and a few objects that are always written. The objects left
   * behind keep their last change, so no later one hides its loss.
   */
  nextCohort(): void;
  /** Deletes a shelf if it still exists, while the writes continue. */
  remove(name: string): Promise<void>;
  /** Resolves when the last write has its response. */
  stop(): Promise<void>;
}

const manager = { fieldManager: "prove" };
/** Between two writes; with their duration, about forty a second. Milliseconds. */
const pauseMillis = 15;
const shelvesPerCohort = 4;
const notesPerCohort = 12;

/** Creates, changes, moves, deletes, and re-creates shelves and notes, one write after the other. */
export function startShelving(bridged: Bridged, { next, signal }: Trial): Shelving {
  const { client } = bridged.environment;
  const writes: Deed[] = [];
  const stopping = new AbortController();
  /** The objects as in the last response. */
  const shelves = new Map<string, Stored<Shelf>>();
  let cohort = 1;
  let texts = 0;

  const did = (what: Deed["what"], kind: Kind, name: string, object?: Stored): void => {
    const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
    writes.push({ time: new Date().toISOString(), what, kind: kind.kind, name, uid, resourceVersion });
  };
  const below = (count: number): number => Math.floor(next() * count);
  const nameOf = (kind: string, count: number): string => {
    const group = ["always", `${cohort}`, `${cohort - 1}`][below(3)];
    return `${kind}-${group}-${below(count)}`;
  };
  const at = (name: string) => ({ namespace: "default", name });
  const spec = () => ({ text: `text ${++texts}` });
  const owners = () => {
    const near = nameOf("shelf", shelvesPerCohort);
    const shelf = shelves.get(near) ?? [...shelves.values()][below(shelves.size)];
    return shelf === undefined ? [] : [controllerReference(shelf)];
  };

  async function writeShelf(name: string): Promise<void> {
    const known = shelves.get(name);
    if (known === undefined) {
      const metadata = at(name);
      const wanted: Shelf = { apiVersion: "test.denrei.dev/v1", kind: "Shelf", metadata, spec: spec() };
      const created = await client.create(Shelf, wanted, manager);
      shelves.set(name, created);
      return did("created", Shelf, name, created);
    }
    if (next() < 0.3) return removeShelf(name);
    const changed = await client.mergePatch(Shelf, at(name), { spec: spec() }, manager);
    shelves.set(name, changed);
    did("changed", Shelf, name, changed);
  }

  async function removeShelf(name: string): Promise<void> {
    const known = shelves.get(name);
    shelves.delete(name);
    await client.delete(Shelf, at(name), {});
    did("deleted", Shelf, name, known);
  }

  const createNote = async (name: string): Promise<void> =>
    did("created", Note, name, await bridged.create(name, { ownerReferences: owners() }));

  async function writeNote(name: string): Promise<void> {
    const choice = next();
    if (choice < 0.3) {
      await bridged.remove(name);
      did("deleted", Note, name);
      // The same name, but usually another shelf.
      if (choice < 0.15) await createNote(name);
      return;
    }
    const moves = choice < 0.5;
    const patch = moves ? { metadata: { ownerReferences: owners() } } : { spec: spec() };
    did(moves ? "moved" : "changed", Note, name, await bridged.change(name, patch));
  }

  const done = (async () => {
    while (!stopping.signal.aborted && !signal.aborted) {
      const isShelf = next() < 0.25;
      const name = isShelf ? nameOf("shelf", shelvesPerCohort) : nameOf("note", notesPerCohort);
      try {
        if (isShelf) await writeShelf(name);
        else
          await writeNote(name).catch((error) => {
            if (isNotFound(error)) return createNote(name);
            throw error;
          });
      } catch (error) {
        if (isNotFound(error)) shelves.delete(name);
        // A shelf being finalized still has its name. Retry less often while the API server is down.
        if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) await sleep(50);
      }
      await sleep(pauseMillis);
    }
  })();
  return {
    writes,
    nextCohort() {
      cohort++;
    },
    remove: (name) =>
      removeShelf(name).catch((error) => {
        if (!isNotFound(error)) throw error;
      }),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

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

/** The state to compare. */
interface Ending {
  readonly shelves: readonly Stored<Shelf>[];
  readonly notes: readonly Stored<Note>[];
  readonly sightings: readonly Sighting[];
}

/** How each shelf's last reconcile differs from the current objects; `names` are the objects involved. */
function differences({ shelves, notes, sightings }: Ending): { text: string; names: string[] }[] {
  const last = new Map(sightings.map((sighting) => [sighting.uid, sighting]));
  const byOwner = Map.groupBy(notes, (note) => controllerOf(note)?.uid);
  return shelves.flatMap(({ metadata }) => {
    const { name, uid, resourceVersion } = metadata;
    if (metadata.deletionTimestamp !== undefined)
      return [{ text: `${name} is waiting for its finalizer`, names: [name] }];
    const wanted = [`itself ${uid} ${resourceVersion}`, ...(byOwner.get(uid) ?? []).map(childText)];
    const seen = last.get(uid);
    const found = seen ? [`itself ${uid} ${seen.resourceVersion}`, ...seen.children] : [];
    const missing = wanted.filter((one) => !found.includes(one));
    const ghosts = found.filter((one) => !wanted.includes(one));
    if (missing.length + ghosts.length === 0) return [];
    const children = [...missing, ...ghosts].map((text) => text.split(" ", 1)[0] ?? "");
    const text = `${name}: not seen by its last reconcile: ${missing.join(", ") || "none"}; outdated there: ${ghosts.join(", ") || "none"}`;
    return [{ text, names: [name, ...children] }];
  });
}

/** Waits until every shelf is reconciled in its current state and every deleted one is finalized; returns the differences. */
export async function checkShelves(
  { environment: kit, history }: Bridged,
  folder: string,
  writes: readonly Deed[],
): Promise<{ checks: Check[]; sightings: readonly Sighting[] }> {
  const look = async (): Promise<Ending> => {
    const [shelves, notes] = await Promise.all([kit.list(Shelf), kit.list(Note)]);
    return { shelves, notes, sightings: await readSightings(folder) };
  };
  const until = performance.now() + deadlineMillis;
  let ending = await look();
  let found = differences(ending);
  while (found.length > 0 && performance.now() < until) {
    await sleep(500);
    ending = await look();
    found = differences(ending);
  }
  const { shelves, notes, sightings } = ending;
  const alive = new Set([...shelves, ...notes].map(({ metadata }) => metadata.uid));
  // The finalizer is added before the first reconcile, so every reconciled shelf must be finalized.
  const reconciled = new Map(
    sightings.filter(({ did }) => did === "reconcile").map(({ uid, name }) => [uid, name]),
  );
  const finalized = new Set(sightings.filter(({ did }) => did === "finalize").map(({ uid }) => uid));
  const gone = [...reconciled].filter(([uid]) => !alive.has(uid));
  const skipped = gone.filter(([uid]) => !finalized.has(uid));
  // The last message about each uid, unless another object has taken over its subject.
  const last = new Map(history.all.map((told) => [told.subject, told]));
  const ghosts = [...last.values()].filter(({ uid, change }) => change !== "deleted" && !alive.has(uid));
  const uids = new Set(history.all.map(({ uid }) => uid));
  const deleted = [...uids].filter((uid) => !alive.has(uid)).length;
  const told = (names: readonly string[]): string[] => historyOf(names, writes, history.all, sightings);
  const checks: Check[] = [
    {
      what: "shelves whose last reconcile saw stale data",
      limit: "0",
      found: `${figure(found.length)} of ${figure(shelves.length)} with ${figure(notes.length)} notes`,
      holds: found.length === 0 && shelves.length > 0 && notes.length > 0,
      ...(found[0] && { history: [found[0].text, ...told(found[0].names)] }),
    },
    {
      what: "deleted shelves that were not finalized",
      limit: "0",
      found: `${figure(skipped.length)} of ${figure(gone.length)}`,
      holds: skipped.length === 0 && gone.length > 0,
      ...(skipped[0] && { history: told([skipped[0][1]]) }),
    },
    {
      what: "deleted objects still on the bus",
      limit: "0",
      found: `${figure(ghosts.length)} of ${figure(deleted)}`,
      holds: ghosts.length === 0 && deleted > 0,
      ...(ghosts[0] && { history: told([ghosts[0].at.name]) }),
    },
  ];
  return { checks, sightings };
}

/** The events of the named objects in the API, on the bus, and in the workers, oldest first. */
export function historyOf(
  names: readonly string[],
  writes: readonly Deed[],
  told: readonly ObjectMessage[],
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
    ...told
      .filter(({ at }) => names.includes(at.name))
      .map((one) => [
        timeOf(one),
        `OBJECTS ${one.change} ${one.subject} ${one.uid} at ${one.resourceVersion}, message ${one.sequence}`,
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
