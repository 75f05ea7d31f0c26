/** Indexes on a real server: every process finds an object by its values, whichever process indexed it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Inbox } from "../../bus/nats/inbox.ts";
import { openIndexes } from "../../bus/objects/indexes.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { keyText, objectSubject, type QueueScope, indexes as subjects } from "../../bus/subjects.ts";
import {
  bus,
  change,
  cluster,
  definitions,
  entries,
  found,
  keyOf,
  lastSequence,
  polling,
  publisher,
  remove,
  replica,
  Thing,
  thing,
  withIndexes,
} from "./indexing.ts";

withIndexes();

test("finds an object by each of its values in each index", async () => {
  const indexes = replica("kept");
  await change(indexes, thing("one", ["red", "round"], "1", "x"));
  await change(indexes, thing("two", ["red", "red"], "2", "red"));
  await change(indexes, thing("none", [], "3"));
  expect(await found(indexes, "red")).toEqual(["one", "two"]);
  expect(await found(indexes, "round")).toEqual(["one"]);
  expect(await found(indexes, "blue")).toEqual([]);
  expect(await found(indexes, "x", "other")).toEqual(["one"]);
  expect(await found(indexes, "red", "other")).toEqual(["two"]);
  expect(await found(indexes, "", "other")).toEqual(["none"]);
  expect(await indexes.find("value", "round")).toEqual([{ namespace: "default", name: "one" }]);
});

test("accepts any text as a value, including characters that are special or invalid in a subject", async () => {
  const indexes = replica("odd");
  const values = [
    "",
    ".",
    "*",
    ">",
    "a.b",
    "a.*",
    "_",
    "=",
    "=2E",
    " ",
    "\n",
    "é",
    "🎉",
    "acme/web",
    "a".repeat(199),
  ];
  await change(indexes, thing("odd", values));
  await change(indexes, thing("plain", ["a"]));
  for (const value of values) expect(await found(indexes, value), JSON.stringify(value)).toEqual(["odd"]);
  expect(await found(indexes, "a")).toEqual(["plain"]);
});

test("accepts values of any length and stays connected", async () => {
  const indexes = replica("long");
  const lost: unknown[] = [];
  const connection = bus.nc.status();
  void (async () => {
    for await (const { type } of connection) if (type === "disconnect") lost.push(type);
  })();
  const lengths = [200, 201, 1000, 5000, 100_000];
  const long = (length: number, end: string) => `${"🎉.".repeat(length)}${end}`;
  await change(
    indexes,
    thing(
      "a",
      lengths.map((length) => long(length, "a")),
    ),
  );
  await change(
    indexes,
    thing(
      "b",
      lengths.map((length) => long(length, "b")),
    ),
  );
  for (const length of lengths) {
    expect(await found(indexes, long(length, "a")), String(length)).toEqual(["a"]);
    expect(await found(indexes, long(length, "b")), String(length)).toEqual(["b"]);
    expect(await found(indexes, long(length, "")), String(length)).toEqual([]);
  }
  expect(lost).toEqual([]);
});

test("finds more objects with a value than one answer of the bus holds", async () => {
  const indexes = replica("many");
  const names = Array.from({ length: 1100 }, (_, at) => `many-${at}`).sort();
  const objects = names.map((name) => thing(name, ["common", name]));
  for (const object of objects) await publisher.publish("added", object, "watch");
  await publisher.settled();
  await Promise.all(objects.map((object) => indexes.keep(keyOf(object), object)));
  expect(await found(indexes, "common")).toEqual(names);
  expect(await found(indexes, "many-7")).toEqual(["many-7"]);
});

test("finds a changed object only by its current values, including one that returns", async () => {
  const indexes = replica("changed");
  await change(indexes, thing("changed", ["old", "both"]));
  await change(indexes, thing("changed", ["new", "both"]));
  expect(await found(indexes, "old")).toEqual([]);
  expect(await found(indexes, "new")).toEqual(["changed"]);
  expect(await found(indexes, "both")).toEqual(["changed"]);
  await change(indexes, thing("changed", ["old"]));
  expect(await found(indexes, "old")).toEqual(["changed"]);
  expect(await found(indexes, "new")).toEqual([]);
});

test("does not find a deleted object, and a lookup removes its entry", async () => {
  const [one, other] = [replica("deleted"), replica("deleted")];
  const gone = await change(one, thing("gone", ["red", "round"]));
  await change(one, thing("stays", ["red"]));
  await remove(gone);
  expect(await found(other, "red")).toEqual(["stays"]);
  const left = (value: string, name: string) =>
    subjects.entry({ fn: "deleted", cluster }, "value", value, { namespace: "default", name });
  const of = async (value: string) =>
    (await entries("deleted")).filter((subject) => subject.includes(`.value.${value}.`));
  await expect.poll(() => of("red"), polling).toEqual([left("red", "stays")]);
  // This value was not looked up yet.
  expect(await of("round")).toEqual([left("round", "gone")]);
  expect(await found(one, "round")).toEqual([]);
  await expect.poll(() => of("round"), polling).toEqual([]);
});

test("finds a recreated object, even in a process that indexed the old one", async () => {
  const [one, other] = [replica("anew"), replica("anew")];
  const before = await change(one, thing("anew", ["red"], "first"));
  await remove(before);
  expect(await found(other, "red")).toEqual([]);
  const second = await change(one, thing("anew", ["red"], "second"));
  expect(await found(one, "red")).toEqual(["anew"]);
  expect(await found(other, "red")).toEqual(["anew"]);
  await remove(second);
  await change(other, thing("anew", ["red"], "third"));
  expect(await found(one, "red")).toEqual(["anew"]);
});

test("removing a stale entry does not remove that of a recreated object", async () => {
  const indexes = replica("racing");
  await remove(await change(indexes, thing("racing", ["red"], "first")));
  const [taking, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inbox: Inbox = {
    ...bus.inbox,
    async request(subject, data, options) {
      if (subject.startsWith("indexes.")) {
        taking.resolve();
        await made.promise;
      }
      return bus.inbox.request(subject, data, options);
    },
  };
  const slow = openIndexes(
    { ...bus, inbox },
    { fn: "racing", cluster },
    Thing,
    definitions,
    objectStore(bus, cluster),
  );
  const looking = slow.find("value", "red");
  await taking.promise;
  await change(indexes, thing("racing", ["red"], "second"));
  made.resolve();
  expect(await looking).toEqual([]);
  expect(await found(indexes, "red")).toEqual(["racing"]);
});

test("ignores an entry whose object is not on the bus yet, and keeps it", async () => {
  const indexes = replica("early");
  const early = thing("early", ["red"]);
  await indexes.keep(keyOf(early), early);
  expect(await found(indexes, "red")).toEqual([]);
  await publisher.publish("added", early, "watch");
  await publisher.settled();
  expect(await found(indexes, "red")).toEqual(["early"]);
});

test("keeps such an entry while the store has the tombstone of the old object", async () => {
  const indexes = replica("early-anew");
  await remove(await change(indexes, thing("early-anew", ["red"], "first")));
  const second = thing("early-anew", ["red"], "second");
  await indexes.keep(keyOf(second), second);
  expect(await found(indexes, "red")).toEqual([]);
  await publisher.publish("added", second, "watch");
  await publisher.settled();
  expect(await found(indexes, "red")).toEqual(["early-anew"]);
});

test("finds an unreadable object, so that its reconcile can fail visibly", async () => {
  const indexes = replica("unreadable");
  const object = await change(indexes, thing("unreadable", ["red"]));
  const at = { ...keyOf(object), group: Thing.group, kind: Thing.kind, owner: "" };
  await publishUntilAnswered(bus, objectSubject(cluster, at), "garbage");
  expect(await found(indexes, "red")).toEqual(["unreadable"]);
});

test("two replicas find each other's entries", async () => {
  const [one, other] = [replica("two"), replica("two")];
  await change(one, thing("by-one", ["red"]));
  await change(other, thing("by-other", ["red"]));
  for (const indexes of [one, other, replica("two")])
    expect(await found(indexes, "red")).toEqual(["by-one", "by-other"]);
});

test("a process does not write a recent entry again, unless the object was recreated", async () => {
  const indexes = replica("once");
  await change(indexes, thing("once", ["red"], "first"));
  const before = await lastSequence();
  for (let round = 0; round < 5; round++) await change(indexes, thing("once", ["red"], "first"));
  expect(await lastSequence()).toBe(before);
  await change(indexes, thing("once", ["red", "blue"], "first"));
  // Only the new value is written: the process knows the other entries of this uid.
  expect(await lastSequence()).toBe(before + 1);
  await change(indexes, thing("once", ["red", "blue"], "second"));
  expect(await lastSequence()).toBe(before + 4);
});

test("does not find objects of another function or another cluster", async () => {
  const indexes = replica("mine");
  const object = await change(replica("theirs"), thing("elsewhere", ["red"]));
  const scope: QueueScope = { fn: "mine", cluster: "another" };
  const away = openIndexes(bus, scope, Thing, definitions, objectStore(bus, "another"));
  await away.keep(keyOf(object), object);
  expect(await found(indexes, "red")).toEqual([]);
  expect(await entries("mine")).toEqual([]);
});

test("indexing ends with its signal when the bus does not answer, and is repeated later", async () => {
  const stopping = new AbortController();
  let asked = 0;
  const inbox: Inbox = {
    ...bus.inbox,
    request(...args) {
      if (stopping.signal.aborted) return bus.inbox.request(...args);
      if (++asked === 3) stopping.abort();
      return Promise.reject(new Error("no answer"));
    },
  };
  const scope = { fn: "deaf", cluster };
  const indexes = openIndexes({ ...bus, inbox }, scope, Thing, definitions, objectStore(bus, cluster));
  const object = thing("deaf", ["red"]);
  await expect(indexes.keep(keyOf(object), object, stopping.signal)).rejects.toThrow(/aborted/);
  expect(await entries("deaf")).toEqual([]);
  await change(indexes, object);
  expect(await found(indexes, "red")).toEqual(["deaf"]);
});

describe("an index that is not declared", () => {
  test.each(["values", "", "constructor", "toString", "__proto__"])("%j", async (index) => {
    await expect(replica("declared").find(index, "red")).rejects.toThrow(
      new RangeError(`expected an index of declared (value, other), found "${index}"`),
    );
  });

  test("of a function without any", async () => {
    const none = openIndexes(bus, { fn: "none", cluster }, Thing, {}, objectStore(bus, cluster));
    await expect(none.find("value", "red")).rejects.toThrow(/none \(it has none\)/);
    await none.keep({ namespace: "default", name: "x" }, thing("x", ["red"]));
    expect(await entries("none")).toEqual([]);
  });
});

test("after any sequence of changes, each object is found by exactly its current values", async () => {
  const colours = ["red", "green", "blue"];
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    values: fc.subarray(colours),
    what: fc.constantFrom("change", "change", "change", "delete", "look"),
    by: fc.nat(1),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const fn = `random-${++run}`;
      const replicas = [replica(fn), replica(fn)] as const;
      const alive = new Map<string, Thing>();
      let uids = 0;
      for (const { name, values, what, by } of steps) {
        const indexes = replicas[by === 0 ? 0 : 1];
        const before = alive.get(name);
        if (what === "look") await Promise.all(colours.map((colour) => indexes.find("value", colour)));
        else if (what === "change") {
          const uid = before?.metadata.uid ?? `${fn}-${++uids}`;
          alive.set(name, await change(indexes, thing(`${fn}-${name}`, values, uid)));
        } else if (before !== undefined) {
          await remove(before);
          alive.delete(name);
        }
      }
      for (const colour of colours) {
        const expected = [...alive.values()].filter(({ spec }) => spec.values.includes(colour));
        for (const indexes of replicas)
          expect((await indexes.find("value", colour)).map(keyText).sort()).toEqual(
            expected.map((object) => keyText(keyOf(object))).sort(),
          );
      }
    }),
    { numRuns: 25 },
  );
});
