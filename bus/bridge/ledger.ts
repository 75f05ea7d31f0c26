/**
 * What a bridge remembers of a kind: the last version at each address of each object, and which address the object is
 * at. There may be a hundred thousand objects, so an address takes 40 bytes of a page, and an object the text of its
 * name and a place in a map beside it. Pages never move: a buffer that grows leaves holes of its former sizes behind,
 * which cost more than what it holds. No text is kept that a subject or a JSON text was cut from: V8 would keep the
 * whole of it.
 */

/** An address of an object: a controller that it has, or had. */
export interface Place {
  /** `namespace/name`, as `keyText` prints it. */
  readonly key: string;
  /** Uid of the controller, or empty. */
  readonly owner: string;
}

/** What the bus has at an address. */
export interface Known {
  readonly resourceVersion: string;
  readonly deleted: boolean;
  /** Of the message in OBJECTS. */
  readonly sequence: number;
}

/** The addresses of a kind's objects. */
export interface Ledger {
  get(place: Place): Known | undefined;
  /** What is deleted is nobody's home any more. */
  set(place: Place, known: Known): void;
  forget(place: Place): void;
  /** Everything known of one object, in no order. */
  all(key: string): (Place & Known)[];
  /** The controller under which the object exists, or empty if it has none; undefined if it does not exist. */
  home(key: string): string | undefined;
  /** The object is here now and nowhere else, or, if nothing that exists is known here, nowhere. */
  settle(place: Place): void;
  /** Objects that have a home, as `namespace/name`. */
  homes(): string[];
  /** How many they are. */
  readonly count: number;
  /**
   * Every version is 0 from now on. So is that of a deletion that is forgotten and that the bus tells of again: its
   * sequence is not above those that were known now.
   */
  forgetVersions(): void;
}

/** How much a ledger remembers. */
export interface LedgerOptions {
  /**
   * So many deletions are remembered, the oldest is forgotten first. More than there can be publishes under way, which
   * rely on what they have just learned; beyond that they spare a question to the bus, which remembers them for days.
   */
  readonly tombstones: number;
}

/**
 * The layout of an address: two doubles, the version and the sequence, and six words of 32 bits: the owner's uid (a
 * UUID), the next address (from 1) of the same object, or of those that are free, and flags.
 */
const bytes = 40;
const doubles = bytes / 8;
const words = bytes / 4;
const pageShift = 10;
/** Addresses of a page. */
const pageSize = 1 << pageShift;
const versionNumber = 0;
const sequenceNumber = 1;
const ownerWord = 4;
const nextWord = 8;
const flagsWord = 9;

const flag = {
  deleted: 1,
  home: 2,
  /** The owner is a UUID, in its words. */
  uuid: 4,
  /** The owner is another text, kept aside. */
  otherOwner: 8,
  /** The version is not a number that a double holds, kept aside. */
  otherVersion: 16,
} as const;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Opens an empty ledger. */
export function openLedger({ tombstones: remembered }: LedgerOptions): Ledger {
  /** The first address of each object. */
  const first = new Map<string, number>();
  const otherOwners = new Map<number, string>();
  const otherVersions = new Map<number, string>();
  /** Addresses where something was deleted, the oldest first. */
  const tombstones = new Map<number, string>();
  const sought = new Uint32Array(4);
  const numbers: Float64Array[] = [];
  const pages: Uint32Array[] = [];
  /** Addresses from 1 up to this were used; those that are free again are linked. */
  let used = 0;
  let free = 0;
  let count = 0;
  /** The highest sequence that was ever known; and what it was when the versions were forgotten. */
  let newest = 0;
  let versionless = 0;

  const wordOf = (slot: number, field: number): number =>
    pages[slot >>> pageShift]?.[(slot % pageSize) * words + field] ?? 0;
  const setWord = (slot: number, field: number, value: number): void => {
    const page = pages[slot >>> pageShift];
    if (page) page[(slot % pageSize) * words + field] = value;
  };
  const numberOf = (slot: number, field: number): number =>
    numbers[slot >>> pageShift]?.[(slot % pageSize) * doubles + field] ?? 0;
  const setNumber = (slot: number, field: number, value: number): void => {
    const page = numbers[slot >>> pageShift];
    if (page) page[(slot % pageSize) * doubles + field] = value;
  };
  const flagsOf = (slot: number): number => wordOf(slot, flagsWord);
  const nextOf = (slot: number): number => wordOf(slot, nextWord);
  const setFlags = (slot: number, flags: number): void => setWord(slot, flagsWord, flags);
  const setNext = (slot: number, next: number): void => setWord(slot, nextWord, next);

  /** A free address; there is one more page if there is none. */
  function take(): number {
    if (free !== 0) {
      const slot = free;
      free = nextOf(slot);
      return slot;
    }
    used++;
    if (used >>> pageShift >= pages.length) {
      const page = new Float64Array(pageSize * doubles);
      numbers.push(page);
      pages.push(new Uint32Array(page.buffer));
    }
    return used;
  }

  function ownerOf(slot: number): string {
    const flags = flagsOf(slot);
    if (flags & flag.otherOwner) return otherOwners.get(slot) ?? "";
    if ((flags & flag.uuid) === 0) return "";
    const hex = Array.from({ length: 4 }, (_, part) =>
      wordOf(slot, ownerWord + part)
        .toString(16)
        .padStart(8, "0"),
    ).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** How the owner is kept: the flag that says so. The words of a UUID are in `sought` then. */
  function formOf(owner: string): number {
    if (owner === "") return 0;
    if (!uuidPattern.test(owner)) return flag.otherOwner;
    const hex = owner.replaceAll("-", "");
    for (let part = 0; part < 4; part++)
      sought[part] = Number.parseInt(hex.slice(part * 8, part * 8 + 8), 16);
    return flag.uuid;
  }

  function belongs(slot: number, form: number, owner: string): boolean {
    if ((flagsOf(slot) & (flag.uuid | flag.otherOwner)) !== form) return false;
    if (form === flag.otherOwner) return otherOwners.get(slot) === owner;
    return form === 0 || sought.every((part, index) => wordOf(slot, ownerWord + index) === part);
  }

  function find({ key, owner }: Place): number {
    let slot = first.get(key) ?? 0;
    if (slot === 0) return 0;
    const form = formOf(owner);
    while (slot !== 0 && !belongs(slot, form, owner)) slot = nextOf(slot);
    return slot;
  }

  function add({ key, owner }: Place): number {
    const slot = take();
    const form = formOf(owner);
    setFlags(slot, form);
    if (form === flag.uuid)
      for (const [index, part] of sought.entries()) setWord(slot, ownerWord + index, part);
    if (form === flag.otherOwner) otherOwners.set(slot, flat(owner));
    const next = first.get(key);
    setNext(slot, next ?? 0);
    first.set(next === undefined ? flat(key) : key, slot);
    return slot;
  }

  function leave(slot: number): void {
    if ((flagsOf(slot) & flag.home) === 0) return;
    setFlags(slot, flagsOf(slot) & ~flag.home);
    count--;
  }

  function remove(key: string, slot: number): void {
    leave(slot);
    tombstones.delete(slot);
    otherOwners.delete(slot);
    otherVersions.delete(slot);
    const head = first.get(key) ?? 0;
    if (head !== slot) {
      let before = head;
      while (nextOf(before) !== slot) before = nextOf(before);
      setNext(before, nextOf(slot));
    } else if (nextOf(slot) === 0) first.delete(key);
    else first.set(key, nextOf(slot));
    setNext(slot, free);
    free = slot;
  }

  function versionOf(slot: number): string {
    const other = flagsOf(slot) & flag.otherVersion ? otherVersions.get(slot) : undefined;
    return other ?? String(numberOf(slot, versionNumber));
  }

  function setVersion(slot: number, text: string): void {
    const value = Number(text);
    otherVersions.delete(slot);
    if (Number.isSafeInteger(value) && String(value) === text) {
      setNumber(slot, versionNumber, value);
      setFlags(slot, flagsOf(slot) & ~flag.otherVersion);
    } else {
      otherVersions.set(slot, flat(text));
      setFlags(slot, flagsOf(slot) | flag.otherVersion);
    }
  }

  const knownAt = (slot: number): Known => ({
    resourceVersion: versionOf(slot),
    deleted: (flagsOf(slot) & flag.deleted) !== 0,
    sequence: numberOf(slot, sequenceNumber),
  });

  /** The address where the object is, or 0. */
  function homeOf(slot: number): number {
    while (slot !== 0 && (flagsOf(slot) & flag.home) === 0) slot = nextOf(slot);
    return slot;
  }

  return {
    get(place) {
      const slot = find(place);
      return slot === 0 ? undefined : knownAt(slot);
    },
    set(place, { resourceVersion, deleted, sequence }) {
      const slot = find(place) || add(place);
      setVersion(slot, deleted && sequence <= versionless ? "0" : resourceVersion);
      setNumber(slot, sequenceNumber, sequence);
      newest = Math.max(newest, sequence);
      tombstones.delete(slot);
      if (!deleted) {
        setFlags(slot, flagsOf(slot) & ~flag.deleted);
        return;
      }
      leave(slot);
      setFlags(slot, flagsOf(slot) | flag.deleted);
      tombstones.set(slot, flat(place.key));
      if (tombstones.size <= remembered) return;
      for (const [oldest, key] of tombstones) return remove(key, oldest);
    },
    forget(place) {
      const slot = find(place);
      if (slot !== 0) remove(place.key, slot);
    },
    all(key) {
      const found: (Place & Known)[] = [];
      for (let slot = first.get(key) ?? 0; slot !== 0; slot = nextOf(slot))
        found.push({ key, owner: ownerOf(slot), ...knownAt(slot) });
      return found;
    },
    home(key) {
      const slot = homeOf(first.get(key) ?? 0);
      return slot === 0 ? undefined : ownerOf(slot);
    },
    settle(place) {
      leave(homeOf(first.get(place.key) ?? 0));
      const slot = find(place);
      if (slot === 0 || flagsOf(slot) & flag.deleted) return;
      setFlags(slot, flagsOf(slot) | flag.home);
      count++;
    },
    homes() {
      const keys: string[] = [];
      for (const [key, slot] of first) if (homeOf(slot) !== 0) keys.push(key);
      return keys;
    },
    get count() {
      return count;
    },
    forgetVersions() {
      versionless = newest;
      otherVersions.clear();
      for (let slot = 1; slot <= used; slot++) {
        setNumber(slot, versionNumber, 0);
        setFlags(slot, flagsOf(slot) & ~flag.otherVersion);
      }
    },
  };
}

/** The same text, without the longer one that it was cut from and the parts that it was put together from. */
function flat(text: string): string {
  const copy = Buffer.from(text).toString();
  // Half a surrogate pair has no UTF-8.
  return copy === text ? copy : text;
}
