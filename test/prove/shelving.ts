/** Writes of shelves and notes that continue through every fault. */
import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists, isConflict, isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerReference, type OwnerReference, type Stored } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { Shelf } from "../fixtures/functions/shelves.ts";
import type { Bridged } from "../harness/bridged.ts";
import type { Trial } from "./scenario.ts";

/** A write that the API server has confirmed. */
export interface ConfirmedWrite {
  /** RFC 3339. */
  readonly time: string;
  readonly what: "created" | "changed" | "deleted" | "moved";
  readonly kind: string;
  readonly name: string;
  /** The UID and resource version in the response, or empty. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Running writes. */
export interface Shelving {
  readonly writes: readonly ConfirmedWrite[];
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
const retryMillis = 50;
const shelvesPerCohort = 4;
const notesPerCohort = 12;

const at = (name: string) => ({ namespace: "default", name });

/** Creates, changes, moves, deletes, and re-creates shelves and notes, one write after the other. */
export const startShelving = (bridged: Bridged, trial: Trial): Shelving => new RandomWrites(bridged, trial);

class RandomWrites implements Shelving {
  readonly writes: ConfirmedWrite[] = [];
  readonly #bridged: Bridged;
  readonly #trial: Trial;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  /** The shelves as in the last response. */
  readonly #shelves = new Map<string, Stored<Shelf>>();
  #cohort = 1;
  #texts = 0;

  constructor(bridged: Bridged, trial: Trial) {
    this.#bridged = bridged;
    this.#trial = trial;
    this.#done = this.#run();
  }

  nextCohort(): void {
    this.#cohort++;
  }

  remove(name: string): Promise<void> {
    return this.#removeShelf(name).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted && !this.#trial.signal.aborted) {
      const isShelf = this.#trial.next() < 0.25;
      const name = isShelf ? this.#nameOf("shelf", shelvesPerCohort) : this.#nameOf("note", notesPerCohort);
      try {
        await (isShelf ? this.#writeShelf(name) : this.#writeNote(name));
      } catch (error) {
        if (isNotFound(error)) this.#shelves.delete(name);
        // A shelf being finalized still has its name. Retry less often while the API server is down.
        if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) await sleep(retryMillis);
      }
      await sleep(pauseMillis);
    }
  }

  async #writeShelf(name: string): Promise<void> {
    const known = this.#shelves.get(name);
    if (known === undefined) return this.#createShelf(name);
    if (this.#trial.next() < 0.3) return this.#removeShelf(name);
    const patch = { spec: this.#newSpec() };
    const changed = await this.#bridged.environment.client.mergePatch(Shelf, at(name), patch, manager);
    this.#shelves.set(name, changed);
    this.#record("changed", Shelf, name, changed);
  }

  async #createShelf(name: string): Promise<void> {
    const shelf: Shelf = {
      apiVersion: "test.denrei.dev/v1",
      kind: "Shelf",
      metadata: at(name),
      spec: this.#newSpec(),
    };
    const created = await this.#bridged.environment.client.create(Shelf, shelf, manager);
    this.#shelves.set(name, created);
    this.#record("created", Shelf, name, created);
  }

  async #removeShelf(name: string): Promise<void> {
    const known = this.#shelves.get(name);
    this.#shelves.delete(name);
    await this.#bridged.environment.client.delete(Shelf, at(name), {});
    this.#record("deleted", Shelf, name, known);
  }

  async #writeNote(name: string): Promise<void> {
    try {
      await this.#writeExistingNote(name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#createNote(name);
    }
  }

  async #writeExistingNote(name: string): Promise<void> {
    const choice = this.#trial.next();
    if (choice < 0.3) {
      await this.#bridged.remove(name);
      this.#record("deleted", Note, name);
      // The same name, but usually another shelf.
      if (choice < 0.15) await this.#createNote(name);
      return;
    }
    const moves = choice < 0.5;
    const patch = moves ? { metadata: { ownerReferences: this.#newOwners() } } : { spec: this.#newSpec() };
    this.#record(moves ? "moved" : "changed", Note, name, await this.#bridged.change(name, patch));
  }

  async #createNote(name: string): Promise<void> {
    const created = await this.#bridged.create(name, { ownerReferences: this.#newOwners() });
    this.#record("created", Note, name, created);
  }

  #record(what: ConfirmedWrite["what"], kind: Kind, name: string, object?: Stored): void {
    const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
    const time = new Date().toISOString();
    this.writes.push({ time, what, kind: kind.kind, name, uid, resourceVersion });
  }

  #newSpec(): Shelf["spec"] {
    return { text: `text ${++this.#texts}` };
  }

  /** A random shelf, usually of a current cohort. */
  #newOwners(): OwnerReference[] {
    const near = this.#nameOf("shelf", shelvesPerCohort);
    const shelf = this.#shelves.get(near) ?? [...this.#shelves.values()][this.#below(this.#shelves.size)];
    return shelf === undefined ? [] : [controllerReference(shelf)];
  }

  #nameOf(kind: string, count: number): string {
    const group = ["always", `${this.#cohort}`, `${this.#cohort - 1}`][this.#below(3)];
    return `${kind}-${group}-${this.#below(count)}`;
  }

  #below(count: number): number {
    return Math.floor(this.#trial.next() * count);
  }
}
