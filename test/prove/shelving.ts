/** Shelves and their notes: writes that go on through every fault, and what must be true of them in the end. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists, isConflict, isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerOf, controllerReference, type Stored } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { childText, journalEnding, Shelf, type Sighting } from "../fixtures/functions/shelves.ts";
import type { Bridged } from "../harness/bridged.ts";
import type { Told } from "../harness/history.ts";
import { type Check, figure, type Trial } from "./scenario.ts";

/** One write that the API server has confirmed. */
export interface Deed {
  /** RFC 3339. */
  readonly time: string;
  readonly what: "created" | "changed" | "deleted" | "moved";
  readonly kind: string;
  readonly name: string;
  /** What the answer says about it, if it does. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Writes under way. */
export interface Shelving {
  readonly deeds: readonly Deed[];
  /**
   * From now on the objects of a new cohort are written, those of the one before, and a few that are written always. What is
   * left behind keeps its last change: no later one covers up that it was lost.
   */
  nextCohort(): void;
  /** Deletes a shelf, beside the writes that go on; it may be gone already. */
  remove(name: string): Promise<void>;
  /** Resolves when the last write was answered. */
  stop(): Promise<void>;
}

const manager = { fieldManager: "prove" };
/** Between two writes; with what they take it makes some forty a second. Milliseconds. */
const pauseMillis = 15;
const shelvesPerCohort = 4;
const notesPerCohort = 12;

/** Creates, changes, moves, deletes and re-creates shelves and notes, one write after the other. */
export function startShelving(bridged: Bridged, { next, signal }: Trial): Shelving {
  const { client } = bridged.kit;
  const deeds: Deed[] = [];
  const stopping = new AbortController();
  /** As the last answer showed them. */
  const shelves = new Map<string, Stored<Shelf>>();
  let cohort = 1;
  let texts = 0;

  const did = (what: Deed["what"], kind: Kind, name: string, object?: Stored): void => {
    const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
    deeds.push({ time: new Date().toISOString(), what, kind: kind.kind, name, uid, resourceVersion });
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
      // Under the same name, and mostly another shelf.
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
        // A shelf that is being finalized still has its name. While the API server is away it is asked less often.
        if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) await sleep(50);
      }
      await sleep(pauseMillis);
    }
  })();
  return {
    deeds,
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

/** Without a loss, what was changed last is reconciled within a moment; milliseconds. */
const deadlineMillis = 60_000;

/** Everything that the workers have seen, oldest first. */
export async function readSightings(folder: string): Promise<Sighting[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(journalEnding));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Sighting)
    .sort((a, b) => a.at - b.at);
}

/** Waits for the first look that a reconcile took. */
export async function firstReconcile(folder: string, signal: AbortSignal): Promise<Sighting> {
  for (const until = performance.now() + deadlineMillis; performance.now() < until; ) {
    const found = (await readSightings(folder)).find(({ did }) => did === "reconcile");
    if (found !== undefined) return found;
    await sleep(200, undefined, { signal });
  }
  throw new Error(`expected a reconcile of a shelf within ${deadlineMillis} ms, found none in ${folder}`);
}

/** What is compared in the end. */
interface Ending {
  readonly shelves: readonly Stored<Shelf>[];
  readonly notes: readonly Stored<Note>[];
  readonly sightings: readonly Sighting[];
}

/** How the last look of each shelf's reconcile differs from what there is; `names` are those of the objects concerned. */
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
    const missed = wanted.filter((one) => !found.includes(one));
    const ghosts = found.filter((one) => !wanted.includes(one));
    if (missed.length + ghosts.length === 0) return [];
    const children = [...missed, ...ghosts].map((text) => text.split(" ", 1)[0] ?? "");
    const text = `${name}: there is ${missed.join(", ") || "nothing more"}, it last saw ${ghosts.join(", ") || "nothing more"}`;
    return [{ text, names: [name, ...children] }];
  });
}

/** Waits until every shelf was reconciled as it is, and every shelf that is gone was finalized; says what is not so. */
export async function checkShelves(
  { kit, history }: Bridged,
  folder: string,
  deeds: readonly Deed[],
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
  // The finalizer is there before the first reconcile: who was reconciled does not go without.
  const reconciled = new Map(
    sightings.filter(({ did }) => did === "reconcile").map(({ uid, name }) => [uid, name]),
  );
  const finalized = new Set(sightings.filter(({ did }) => did === "finalize").map(({ uid }) => uid));
  const gone = [...reconciled].filter(([uid]) => !alive.has(uid));
  const skipped = gone.filter(([uid]) => !finalized.has(uid));
  // The last word about each uid, unless another one has taken over its subject.
  const last = new Map(history.all.map((told) => [told.subject, told]));
  const ghosts = [...last.values()].filter(({ uid, change }) => change !== "deleted" && !alive.has(uid));
  const uids = new Set(history.all.map(({ uid }) => uid));
  const deleted = [...uids].filter((uid) => !alive.has(uid)).length;
  const told = (names: readonly string[]): string[] => historyOf(names, deeds, history.all, sightings);
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

/** What happened to the named objects: in the API, on the bus, and in the workers; oldest first. */
export function historyOf(
  names: readonly string[],
  deeds: readonly Deed[],
  told: readonly Told[],
  sightings: readonly Sighting[],
): string[] {
  const timeOf = ({ raw }: Told): string => /^ce-time: (\S+)/m.exec(raw)?.[1] ?? "";
  const lines = [
    ...deeds
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
