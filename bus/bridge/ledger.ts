/**
 * The bridge's record of a kind: the last version on the bus at each address of each object, and the address at which the
 * object exists. An object takes about 170 bytes, measured with 10,000 to 1,000,000 objects. Packing the records into typed
 * arrays saved 7 MB of 18 MB at 100,000 objects and took longer per call, so a Map is enough. The ledger keeps copies of
 * texts: a substring would keep the whole text that it was cut from alive in V8.
 */

/** An address of an object: its key and a controller that it has or had. */
export interface Address {
  /** `namespace/name`, as `keyText` prints it. */
  readonly key: string;
  /** Uid of the controller, or empty. */
  readonly owner: string;
}

/** The last message that the bus has at an address. */
export interface Known {
  readonly resourceVersion: string;
  readonly deleted: boolean;
  /** Sequence of the message in OBJECTS. */
  readonly sequence: number;
}

/** The addresses of a kind's objects. */
export interface Ledger {
  get(address: Address): Known | undefined;
  /** Records a message. A deletion also ends the assignment of the object to the address. */
  set(address: Address, known: Known): void;
  forget(address: Address): void;
  /** All addresses of one object, in no order. */
  all(key: string): (Address & Known)[];
  /** The controller under which the object exists, or empty if it has none; undefined if the object does not exist. */
  ownerOf(key: string): string | undefined;
  /** The object exists at this address only, or, if the address is unknown or deleted, nowhere. */
  assign(address: Address): void;
  /** Objects that exist, as `namespace/name`. */
  keys(): string[];
  /** Objects that exist and whose message has a higher sequence, as `namespace/name`. */
  keysAfter(sequence: number): string[];
  /** Number of existing objects. */
  readonly count: number;
  /**
   * Sets every version to 0. Deletions that are forgotten and then read from the bus again get version 0, too: their
   * sequence is not above the highest one known now.
   */
  forgetVersions(): void;
}

/** Limits of a ledger. */
export interface LedgerOptions {
  /**
   * Maximum number of remembered deletions; the oldest is forgotten first. It has to exceed the number of concurrent
   * publishes, which rely on what they have just learned. Beyond that, it saves reads from the bus, which remembers deletions
   * for days.
   */
  readonly tombstones: number;
}

interface Entry {
  readonly owner: string;
  /** A number where possible: it takes 32 bytes less than a string. */
  version: number | string;
  deleted: boolean;
  sequence: number;
  /** The object exists at this address. */
  isAssigned: boolean;
  /** Another address of the same object. */
  next: Entry | undefined;
}

class MapLedger implements Ledger {
  readonly #tombstoneLimit: number;
  /** The first address of each object. */
  readonly #entries = new Map<string, Entry>();
  /** Deleted addresses with their keys, the oldest first. */
  readonly #tombstones = new Map<Entry, string>();
  #count = 0;
  #highestSequence = 0;
  /** Up to this sequence, deletions have version 0. */
  #versionless = 0;

  constructor(options: LedgerOptions) {
    this.#tombstoneLimit = options.tombstones;
  }

  get count(): number {
    return this.#count;
  }

  get(address: Address): Known | undefined {
    const entry = this.#find(address);
    return entry && knownFrom(entry);
  }

  set(address: Address, { resourceVersion, deleted, sequence }: Known): void {
    const entry = this.#find(address) ?? this.#add(address);
    entry.version = deleted && sequence <= this.#versionless ? 0 : compactVersion(resourceVersion);
    entry.sequence = sequence;
    entry.deleted = deleted;
    this.#highestSequence = Math.max(this.#highestSequence, sequence);
    this.#tombstones.delete(entry);
    if (!deleted) return;
    this.#unassign(entry);
    this.#tombstones.set(entry, copied(address.key));
    if (this.#tombstones.size <= this.#tombstoneLimit) return;
    for (const [oldest, key] of this.#tombstones) {
      this.#remove(key, oldest);
      return;
    }
  }

  forget(address: Address): void {
    const entry = this.#find(address);
    if (entry !== undefined) this.#remove(address.key, entry);
  }

  all(key: string): (Address & Known)[] {
    const found: (Address & Known)[] = [];
    for (let entry = this.#entries.get(key); entry !== undefined; entry = entry.next)
      found.push({ key, owner: entry.owner, ...knownFrom(entry) });
    return found;
  }

  ownerOf(key: string): string | undefined {
    return this.#assigned(key)?.owner;
  }

  assign(address: Address): void {
    this.#unassign(this.#assigned(address.key));
    const entry = this.#find(address);
    if (entry === undefined || entry.deleted) return;
    entry.isAssigned = true;
    this.#count++;
  }

  keys(): string[] {
    const keys: string[] = [];
    for (const key of this.#entries.keys()) if (this.#assigned(key) !== undefined) keys.push(key);
    return keys;
  }

  keysAfter(sequence: number): string[] {
    const keys: string[] = [];
    for (const key of this.#entries.keys())
      if ((this.#assigned(key)?.sequence ?? 0) > sequence) keys.push(key);
    return keys;
  }

  forgetVersions(): void {
    this.#versionless = this.#highestSequence;
    for (const first of this.#entries.values())
      for (let entry: Entry | undefined = first; entry !== undefined; entry = entry.next) entry.version = 0;
  }

  #find({ key, owner }: Address): Entry | undefined {
    let entry = this.#entries.get(key);
    while (entry !== undefined && entry.owner !== owner) entry = entry.next;
    return entry;
  }

  #add({ key, owner }: Address): Entry {
    const next = this.#entries.get(key);
    const entry: Entry = {
      owner: copied(owner),
      version: 0,
      deleted: false,
      sequence: 0,
      isAssigned: false,
      next,
    };
    this.#entries.set(next === undefined ? copied(key) : key, entry);
    return entry;
  }

  #remove(key: string, entry: Entry): void {
    this.#unassign(entry);
    this.#tombstones.delete(entry);
    let before = this.#entries.get(key);
    if (before === entry) {
      if (entry.next === undefined) this.#entries.delete(key);
      else this.#entries.set(key, entry.next);
      return;
    }
    while (before !== undefined && before.next !== entry) before = before.next;
    if (before !== undefined) before.next = entry.next;
  }

  /** The address at which the object exists. */
  #assigned(key: string): Entry | undefined {
    let entry = this.#entries.get(key);
    while (entry !== undefined && !entry.isAssigned) entry = entry.next;
    return entry;
  }

  #unassign(entry: Entry | undefined): void {
    if (!entry?.isAssigned) return;
    entry.isAssigned = false;
    this.#count--;
  }
}

/** Opens an empty ledger. */
export const openLedger = (options: LedgerOptions): Ledger => new MapLedger(options);

const knownFrom = ({ version, deleted, sequence }: Entry): Known => ({
  resourceVersion: String(version),
  deleted,
  sequence,
});

function compactVersion(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : copied(text);
}

/** The same text in memory of its own. */
function copied(text: string): string {
  const copy = Buffer.from(text).toString();
  // UTF-8 cannot represent half a surrogate pair.
  return copy === text ? copy : text;
}
