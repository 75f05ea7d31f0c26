import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Address, type Known, type Ledger, openLedger } from "./ledger.ts";

/** A reference implementation with simple maps and arrays. */
function referenceLedger({ tombstones }: { tombstones: number }): Ledger {
  const known = new Map<string, Address & Known>();
  const owners = new Map<string, string>();
  const text = ({ key, owner }: Address) => JSON.stringify([key, owner]);
  let tombs: Address[] = [];
  let newest = 0;
  let versionless = 0;
  const remove = (address: Address) => {
    known.delete(text(address));
    tombs = tombs.filter((each) => text(each) !== text(address));
    if (owners.get(address.key) === address.owner) owners.delete(address.key);
  };
  return {
    get(address) {
      const { key: _key, owner: _owner, ...found } = known.get(text(address)) ?? { key: "", owner: "" };
      return "sequence" in found ? found : undefined;
    },
    set(address, entry) {
      const old = entry.deleted && entry.sequence <= versionless;
      known.set(text(address), { ...address, ...entry, ...(old && { resourceVersion: "0" }) });
      newest = Math.max(newest, entry.sequence);
      tombs = tombs.filter((each) => text(each) !== text(address));
      if (!entry.deleted) return;
      if (owners.get(address.key) === address.owner) owners.delete(address.key);
      tombs.push(address);
      const [oldest] = tombs;
      if (oldest === undefined || tombs.length <= tombstones) return;
      remove(oldest);
    },
    forget: remove,
    all: (key) => [...known.values()].filter((each) => each.key === key),
    ownerOf: (key) => owners.get(key),
    assign(address) {
      if (known.get(text(address))?.deleted === false) owners.set(address.key, address.owner);
      else owners.delete(address.key);
    },
    keys: () => [...owners.keys()],
    keysAfter: (sequence) =>
      [...owners].flatMap(([key, owner]) =>
        (known.get(text({ key, owner }))?.sequence ?? 0) > sequence ? [key] : [],
      ),
    get count() {
      return owners.size;
    },
    forgetVersions() {
      versionless = newest;
      for (const [at, entry] of known) known.set(at, { ...entry, resourceVersion: "0" });
    },
  };
}

const address = fc.record<Address>({
  key: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("default/a", "default/b", "a", "other/a-name-that-is-longer") },
    fc.nat(300).map((n) => `many/object-${n}`),
    fc.string({ unit: "binary" }),
  ),
  owner: fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    fc.uuid(),
    fc.constantFrom(
      "owner-1",
      "OWNER",
      "00000000-0000-0000-0000-000000000000",
      "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
      "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    ),
    fc.string({ unit: "binary" }),
  ),
});
const known = fc.record<Known>({
  resourceVersion: fc.oneof(
    fc.nat().map(String),
    fc.constantFrom(
      "0",
      "-0",
      "007",
      "1e3",
      "",
      "NaN",
      "9007199254740991",
      "9007199254740993",
      "18446744073709551616",
    ),
    fc.string({ unit: "binary" }),
  ),
  deleted: fc.boolean(),
  sequence: fc.oneof(fc.nat(50), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
});
/** One call of a ledger. */
const call = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant("set" as const), address, known) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("assign" as const), address) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("forget" as const), address) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("forgetVersions" as const)) },
);

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in the heap and in array buffers after a full garbage collection. */
function heldBytes(): number {
  // The second collection finds what the first one's finalizers freed.
  for (let n = 0; n < 2; n++) collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const sorted = <T>(values: readonly T[]): string[] => values.map((value) => JSON.stringify(value)).sort();

test("ledger - answers like a reference implementation", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(call, { maxLength: 400 }), (tombstones, calls) => {
      const [found, expected] = [openLedger({ tombstones }), referenceLedger({ tombstones })];
      const addresses: Address[] = [];
      for (const [method, at, what] of calls) {
        for (const ledger of [found, expected]) {
          if (method === "set") ledger.set(at as Address, what as Known);
          else if (method === "forgetVersions") ledger.forgetVersions();
          else ledger[method](at as Address);
        }
        if (at) addresses.push(at);
        expect(found.count).toBe(expected.count);
      }
      for (const at of addresses) {
        expect(found.get(at)).toEqual(expected.get(at));
        expect(found.ownerOf(at.key)).toBe(expected.ownerOf(at.key));
        expect(sorted(found.all(at.key))).toEqual(sorted(expected.all(at.key)));
      }
      expect(sorted(found.keys())).toEqual(sorted(expected.keys()));
      for (const sequence of [0, 25, 50])
        expect(sorted(found.keysAfter(sequence))).toEqual(sorted(expected.keysAfter(sequence)));
    }),
    { numRuns: 300, seed: Number(process.env.DENREI_SEED ?? 1) },
  );
});

test("ledger - takes at most 200 bytes per object, even if its name is a substring of a longer text", () => {
  const [ledger, count] = [openLedger({ tombstones: 100 }), 100_000];
  const before = heldBytes();
  for (let n = 1; n <= count; n++) {
    const text = `objects.cluster.some-group.Kind.default.${"x".repeat(100)}.an-object-${n}`;
    const at = { key: `default/${text.split(".").at(-1)}`, owner: "" };
    ledger.set(at, { resourceVersion: String(1_000_000 + n), deleted: false, sequence: n });
    ledger.assign(at);
  }
  expect((heldBytes() - before) / count).toBeLessThan(200);
  expect(ledger.count).toBe(count);
});

test("ledger - releases the memory of forgotten deletions, so names that are used once do not accumulate", () => {
  const ledger = openLedger({ tombstones: 100 });
  const before = heldBytes();
  for (let n = 1; n <= 200_000; n++) {
    const at = { key: `default/job-${n}`, owner: "" };
    ledger.set(at, { resourceVersion: String(n), deleted: false, sequence: n });
    ledger.assign(at);
    ledger.set(at, { resourceVersion: String(n), deleted: true, sequence: n });
  }
  expect(ledger.count).toBe(0);
  expect(ledger.get({ key: "default/job-199900", owner: "" })).toBeUndefined();
  expect(ledger.get({ key: "default/job-199901", owner: "" })).toMatchObject({ resourceVersion: "199901" });
  // Remembering all of them would take more than 20 MB.
  expect(heldBytes() - before).toBeLessThan(5_000_000);
});
