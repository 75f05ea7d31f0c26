/** Removing stale index entries. */
import { expect, test } from "vitest";
import { machineClock } from "../../bus/nats/busclock.ts";
import { tidyIndexes } from "../../bus/objects/indextidy.ts";
import { objectStore } from "../../bus/objects/store.ts";
import {
  bus,
  change,
  cluster,
  definitions,
  entries,
  found,
  keyOf,
  remove,
  replica,
  Thing,
  thing,
  withIndexes,
} from "./indexing.ts";

withIndexes();

const { value } = definitions;
const tidy = (fn: string, minimumAgeMillis?: number) =>
  tidyIndexes({
    ...{ bus, scope: { fn, cluster }, kind: Thing, definitions: { value }, store: objectStore(bus, cluster) },
    ...{
      clock: machineClock,
      signal: new AbortController().signal,
      ...(minimumAgeMillis !== undefined && { minimumAgeMillis }),
    },
  });
const valuesLeft = async (fn: string) =>
  (await entries(fn)).flatMap((subject) => {
    const [, , , index, value, , name] = subject.split(".");
    return index === "value" ? [`${name} ${value}`] : [];
  });

test("removes entries of former values and of deleted objects", async () => {
  const indexes = replica("tidy");
  for (let at = 0; at < 250; at++) await change(indexes, thing("changes", ["both", `value-${at}`]));
  const gone = await change(indexes, thing("gone", ["both", "mine"]));
  await change(indexes, thing("stays", ["both", "mine", "a".repeat(500)]));
  await remove(gone);
  expect(await tidy("tidy", -60_000)).toBe(249 + 3);
  await expect.poll(() => valuesLeft("tidy")).toHaveLength(5);
  expect(await found(indexes, "both")).toEqual(["changes", "stays"]);
  expect(await found(indexes, "a".repeat(500))).toEqual(["stays"]);
  expect(await found(indexes, "value-249")).toEqual(["changes"]);
});

test("keeps recent entries, because a process may rely on its own writes", async () => {
  const indexes = replica("young");
  await change(indexes, thing("young", ["old"]));
  await change(indexes, thing("young", ["new"]));
  expect(await tidy("young")).toBe(0);
  await change(indexes, thing("young", ["old"]));
  expect(await found(indexes, "old")).toEqual(["young"]);
});

test("keeps entries written by another version of the function", async () => {
  const indexes = replica("upgraded");
  // An unchanged object keeps entries that this version would not write. Among 50, some are written within the millisecond of
  // the object's last change.
  for (let at = 0; at < 50; at++) {
    const other = await change(indexes, thing(`upgraded-${at}`, ["both"], undefined, "x"));
    await indexes.keep(keyOf(other), thing(`upgraded-${at}`, ["theirs"]));
  }
  expect(await tidy("upgraded", -60_000)).toBe(0);
  // The test's definitions have one index of the two.
  await change(indexes, thing("upgraded-0", ["both"], undefined, "y"));
  expect(await tidy("upgraded", -60_000)).toBe(1);
  await expect.poll(() => valuesLeft("upgraded")).not.toContain("upgraded-0 theirs");
  expect(await valuesLeft("upgraded")).toHaveLength(99);
  expect(await found(indexes, "y", "other")).toEqual(["upgraded-0"]);
});

test("removes entries of objects that are no longer on the bus", async () => {
  const indexes = replica("forgotten");
  const object = thing("never-published", ["mine"]);
  await indexes.keep({ namespace: "default", name: "never-published" }, object);
  expect(await tidy("forgotten", -60_000)).toBe(2);
  await expect.poll(() => valuesLeft("forgotten")).toEqual([]);
});
