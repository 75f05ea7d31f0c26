/** Indexes on a real server: whoever looks an object up by a value finds it, whichever process has seen it. */
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
  patience,
  publisher,
  remove,
  replica,
  Thing,
  thing,
  withIndexes,
} from "./indexing.ts";

withIndexes();

test("what is kept is found, by each of its values and in each of its indexes", async () => {
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

test("a value is any text: what a subject can not hold, and what it would mean something else in", async () => {
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

test("a value is as long as somebody makes it: the bus takes it, and stays connected", async () => {
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

test("more objects have a value than the bus tells at once", async () => {
  const indexes = replica("many");
  const names = Array.from({ length: 1100 }, (_, at) => `many-${at}`).sort();
  const objects = names.map((name) => thing(name, ["common", name]));
  for (const object of objects) await publisher.publish("added", object, "watch");
  await publisher.settled();
  await Promise.all(objects.map((object) => indexes.keep(keyOf(object), object)));
  expect(await found(indexes, "common")).toEqual(names);
  expect(await found(indexes, "many-7")).toEqual(["many-7"]);
});

test("an object that has another value is found by that one alone, and by its old one when it has it again", async () => {
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

test("a deleted object is not found, and whoever looks for it takes its entry away", async () => {
  const [one, other] = [replica("deleted"), replica("deleted")];
  const gone = await change(one, thing("gone", ["red", "round"]));
  await change(one, thing("stays", ["red"]));
  await remove(gone);
  expect(await found(other, "red")).toEqual(["stays"]);
  const left = (value: string, name: string) =>
    subjects.entry({ fn: "deleted", cluster }, "value", value, { namespace: "default", name });
  const of = async (value: string) =>
    (await entries("deleted")).filter((subject) => subject.includes(`.value.${value}.`));
  await expect.poll(() => of("red"), patience).toEqual([left("red", "stays")]);
  // Nobody has looked for this one.
  expect(await of("round")).toEqual([left("round", "gone")]);
  expect(await found(one, "round")).toEqual([]);
  await expect.poll(() => of("round"), patience).toEqual([]);
});

test("an object that is made anew under its name is found, by whoever has kept the one before", async () => {
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

test("whoever takes an entry away takes none of an object that is made anew meanwhile", async () => {
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

test("an entry that is there before its object is not found, and not taken away either", async () => {
  const indexes = replica("early");
  const early = thing("early", ["red"]);
  await indexes.keep(keyOf(early), early);
  expect(await found(indexes, "red")).toEqual([]);
  await publisher.publish("added", early, "watch");
  await publisher.settled();
  expect(await found(indexes, "red")).toEqual(["early"]);
});

test("nor where the store still has the deletion of the one before it", async () => {
  const indexes = replica("early-anew");
  await remove(await change(indexes, thing("early-anew", ["red"], "first")));
  const second = thing("early-anew", ["red"], "second");
  await indexes.keep(keyOf(second), second);
  expect(await found(indexes, "red")).toEqual([]);
  await publisher.publish("added", second, "watch");
  await publisher.settled();
  expect(await found(indexes, "red")).toEqual(["early-anew"]);
});

test("an object that nobody can read is found: it decides for itself", async () => {
  const indexes = replica("unreadable");
  const object = await change(indexes, thing("unreadable", ["red"]));
  const at = { ...keyOf(object), group: Thing.group, kind: Thing.kind, owner: "" };
  await publishUntilAnswered(bus, objectSubject(cluster, at), "garbage");
  expect(await found(indexes, "red")).toEqual(["unreadable"]);
});

test("two replicas find what either has kept", async () => {
  const [one, other] = [replica("two"), replica("two")];
  await change(one, thing("by-one", ["red"]));
  await change(other, thing("by-other", ["red"]));
  for (const indexes of [one, other, replica("two")])
    expect(await found(indexes, "red")).toEqual(["by-one", "by-other"]);
});

test("what a process has kept lately it does not write again, unless it is another object", async () => {
  const indexes = replica("once");
  await change(indexes, thing("once", ["red"], "first"));
  const before = await lastSequence();
  for (let round = 0; round < 5; round++) await change(indexes, thing("once", ["red"], "first"));
  expect(await lastSequence()).toBe(before);
  await change(indexes, thing("once", ["red", "blue"], "first"));
  // The other index's value of this uid is known as well.
  expect(await lastSequence()).toBe(before + 1);
  await change(indexes, thing("once", ["red", "blue"], "second"));
  expect(await lastSequence()).toBe(before + 4);
});

test("an object of another function, or of another cluster, is none of these", async () => {
  const indexes = replica("mine");
  const object = await change(replica("theirs"), thing("elsewhere", ["red"]));
  const scope: QueueScope = { fn: "mine", cluster: "another" };
  const away = openIndexes(bus, scope, Thing, definitions, objectStore(bus, "another"));
  await away.keep(keyOf(object), object);
  expect(await found(indexes, "red")).toEqual([]);
  expect(await entries("mine")).toEqual([]);
});

test("keeping ends with its signal when the bus does not answer, and takes nothing for kept", async () => {
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

test("whatever happens to objects, each is found by the values that it has, and by no other", async () => {
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
        const wanted = [...alive.values()].filter(({ spec }) => spec.values.includes(colour));
        for (const indexes of replicas)
          expect((await indexes.find("value", colour)).map(keyText).sort()).toEqual(
            wanted.map((object) => keyText(keyOf(object))).sort(),
          );
      }
    }),
    { numRuns: 25 },
  );
});
