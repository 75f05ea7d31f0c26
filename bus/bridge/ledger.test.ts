import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Known, type Ledger, openLedger, type Place } from "./ledger.ts";

/** What a ledger does, with plain maps. */
function plainLedger({ tombstones }: { tombstones: number }): Ledger {
  const known = new Map<string, Place & Known>();
  const homes = new Map<string, string>();
  const text = ({ key, owner }: Place) => JSON.stringify([key, owner]);
  let buried: Place[] = [];
  let newest = 0;
  let versionless = 0;
  const remove = (place: Place) => {
    known.delete(text(place));
    buried = buried.filter((each) => text(each) !== text(place));
    if (homes.get(place.key) === place.owner) homes.delete(place.key);
  };
  return {
    get(place) {
      const { key: _key, owner: _owner, ...found } = known.get(text(place)) ?? { key: "", owner: "" };
      return "sequence" in found ? found : undefined;
    },
    set(place, what) {
      const old = what.deleted && what.sequence <= versionless;
      known.set(text(place), { ...place, ...what, ...(old && { resourceVersion: "0" }) });
      newest = Math.max(newest, what.sequence);
      buried = buried.filter((each) => text(each) !== text(place));
      if (!what.deleted) return;
      if (homes.get(place.key) === place.owner) homes.delete(place.key);
      buried.push(place);
      const [oldest] = buried;
      if (oldest === undefined || buried.length <= tombstones) return;
      remove(oldest);
    },
    forget: remove,
    all: (key) => [...known.values()].filter((each) => each.key === key),
    home: (key) => homes.get(key),
    settle(place) {
      if (known.get(text(place))?.deleted === false) homes.set(place.key, place.owner);
      else homes.delete(place.key);
    },
    homes: () => [...homes.keys()],
    get count() {
      return homes.size;
    },
    forgetVersions() {
      versionless = newest;
      for (const [at, entry] of known) known.set(at, { ...entry, resourceVersion: "0" });
    },
  };
}

const place = fc.record<Place>({
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
/** One call; the answers of the plain maps are the right ones. */
const call = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant("set" as const), place, known) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("settle" as const), place) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("forget" as const), place) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("forgetVersions" as const)) },
);

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What is left in the heap and in array buffers when all garbage is collected. */
function heldBytes(): number {
  // The second collection finds what the first one's finalizers freed.
  for (let n = 0; n < 2; n++) collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const sorted = <T>(values: readonly T[]): string[] => values.map((value) => JSON.stringify(value)).sort();

test("ledger - it is what plain maps would be", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(call, { maxLength: 400 }), (tombstones, calls) => {
      const [found, expected] = [openLedger({ tombstones }), plainLedger({ tombstones })];
      const places: Place[] = [];
      for (const [method, at, what] of calls) {
        for (const ledger of [found, expected]) {
          if (method === "set") ledger.set(at as Place, what as Known);
          else if (method === "forgetVersions") ledger.forgetVersions();
          else ledger[method](at as Place);
        }
        if (at) places.push(at);
        expect(found.count).toBe(expected.count);
      }
      for (const at of places) {
        expect(found.get(at)).toEqual(expected.get(at));
        expect(found.home(at.key)).toBe(expected.home(at.key));
        expect(sorted(found.all(at.key))).toEqual(sorted(expected.all(at.key)));
      }
      expect(sorted(found.homes())).toEqual(sorted(expected.homes()));
    }),
    { numRuns: 300, seed: Number(process.env.DENREI_SEED ?? 1) },
  );
});

test("ledger - an object costs no more than 200 bytes, whatever text its name was cut from", () => {
  const [ledger, count] = [openLedger({ tombstones: 100 }), 100_000];
  const before = heldBytes();
  for (let n = 1; n <= count; n++) {
    const text = `objects.cluster.some-group.Kind.default.${"x".repeat(100)}.an-object-${n}`;
    const at = { key: `default/${text.split(".").at(-1)}`, owner: "" };
    ledger.set(at, { resourceVersion: String(1_000_000 + n), deleted: false, sequence: n });
    ledger.settle(at);
  }
  expect((heldBytes() - before) / count).toBeLessThan(200);
  expect(ledger.count).toBe(count);
});

test("ledger - what is forgotten makes room for what comes: names that are used once do not add up", () => {
  const ledger = openLedger({ tombstones: 100 });
  const before = heldBytes();
  for (let n = 1; n <= 200_000; n++) {
    const at = { key: `default/job-${n}`, owner: "" };
    ledger.set(at, { resourceVersion: String(n), deleted: false, sequence: n });
    ledger.settle(at);
    ledger.set(at, { resourceVersion: String(n), deleted: true, sequence: n });
  }
  expect(ledger.count).toBe(0);
  expect(ledger.get({ key: "default/job-199900", owner: "" })).toBeUndefined();
  expect(ledger.get({ key: "default/job-199901", owner: "" })).toMatchObject({ resourceVersion: "199901" });
  // As long as they were all remembered, it would be more than 20 MB.
  expect(heldBytes() - before).toBeLessThan(5_000_000);
});
