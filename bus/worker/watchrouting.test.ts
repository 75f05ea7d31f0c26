import { describe, expect, test } from "vitest";
import { Pod } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import {
  maxKeys,
  type StoredWatchRecord,
  type WatchRecord,
  type WatchRecords,
} from "../objects/watchrecords.ts";
import type { ObjectKey } from "../subjects.ts";
import type { ObjectEvent } from "./objectevent.ts";
import { declarationOf, labels, projectionOf, type Watch } from "./watch.ts";
import { outcomeOf, RecordChanges, type WatchOutcome } from "./watchrouting.ts";

const key = (name: string): ObjectKey => ({ namespace: "default", name });
const watch: Watch = {
  kind: Pod,
  labels: { matchExpressions: [{ key: "web", operator: "Exists" }] },
  changed: labels,
  keys: ({ metadata }) => [key((metadata.labels as { readonly web: string }).web)],
};
const filtered = { watch, ordinal: 0 };

const pod = (labels: Record<string, string> | undefined, resourceVersion = "11"): Stored => ({
  ...{ apiVersion: "v1", kind: "Pod", spec: {} },
  metadata: { ...key("pod"), uid: "uid", resourceVersion, ...(labels && { labels }) },
});
const at = { group: "", kind: "Pod", ...key("pod"), owner: "" };
const eventOf = (object: Stored, changes: Partial<ObjectEvent> = {}): ObjectEvent => ({
  ...{ at, uid: "uid", resourceVersion: "11", deleted: false, partial: false, correction: false },
  ...{ traceparent: undefined },
  ...{ sequence: 6, previous: 5, object: () => object },
  ...changes,
});
const recordOf = (labels: Record<string, string>, ...keys: ObjectKey[]): StoredWatchRecord => ({
  record: {
    ...{ declaration: declarationOf(watch), sequence: 5, resourceVersion: "10", keys },
    projection: projectionOf(watch, pod(labels)),
  },
  revision: 3,
});
const find = async () => [];
const outcome = (event: ObjectEvent, object: Stored | undefined, record: StoredWatchRecord, by = watch) =>
  outcomeOf({ ...filtered, watch: by }, event, object, record, find);
const judged = (object: Stored, record: StoredWatchRecord) => outcome(eventOf(object), object, record);
const none: StoredWatchRecord = { record: undefined, revision: 0 };

describe("a filtered watch", () => {
  test("requests the keys of an object that it sees first, and records them", async () => {
    const { keys, change, record } = await judged(pod({ web: "a" }), none);
    expect([keys, change, record?.keys]).toEqual([[key("a")], "enter", [key("a")]]);
  });

  test("advances the record of an unchanged object without asking for its keys", async () => {
    const keys = () => Promise.reject(new Error("not needed"));
    const object = pod({ web: "a" });
    const record = recordOf({ web: "a" }, key("earlier"));
    expect(await outcome(eventOf(object), object, record, { ...watch, keys })).toMatchObject({
      ...{ keys: [], change: "replace", revision: 3 },
      record: { sequence: 6, resourceVersion: "11", keys: [key("earlier")] },
    });
  });

  test("requests former and new keys of a changed object, and records only the new ones", async () => {
    const { keys, record } = await judged(pod({ web: "b" }), recordOf({ web: "a" }, key("a")));
    expect([keys, record?.keys]).toEqual([[key("b"), key("a")], [key("b")]]);
  });

  test.each<[string, Watch["keys"]]>([
    ["fail", watch.keys],
    ["name nothing", ({ metadata }) => [key(metadata.labels?.web as string)]],
  ])(
    "requests the recorded keys of an object that stops matching, although its own keys %s",
    async (_, keys) => {
      const gone = pod(undefined);
      const before = recordOf({ web: "a" }, key("a"));
      expect(await outcome(eventOf(gone), gone, before, { ...watch, keys })).toMatchObject({
        ...{ keys: [key("a")], change: "remove", record: undefined },
      });
    },
  );

  test("requests the recorded keys of a deleted object, of which only a part is left", async () => {
    const event = eventOf(pod(undefined), { deleted: true, partial: true });
    expect(await outcome(event, undefined, recordOf({ web: "a" }, key("a")))).toMatchObject({
      ...{ keys: [key("a")], change: "remove" },
    });
  });

  test("ignores a part of an object that no longer exists, because its deletion follows", async () => {
    const event = eventOf(pod(undefined), { partial: true });
    expect(await outcome(event, undefined, recordOf({ web: "a" }, key("a")))).toMatchObject({
      ...{ keys: [], change: "keep" },
    });
  });

  test("does not compare an object that was read in a newer version than that of the event", async () => {
    const event = eventOf(pod({ web: "a" }), { partial: true });
    const { keys, record } = await outcome(event, pod({ web: "a" }, "12"), recordOf({ web: "a" }));
    expect([keys, record?.projection]).toEqual([[key("a")], undefined]);
  });

  test("records no keys when there are too many for a message", async () => {
    const many = Array.from({ length: maxKeys + 1 }, (_, at) => key(String(at)));
    const object = pod({ web: "a" });
    const { keys, record } = await outcome(eventOf(object), object, none, { ...watch, keys: () => many });
    expect([keys.length, record?.keys]).toEqual([maxKeys + 1, []]);
  });
});

describe("record changes", () => {
  const { record } = recordOf({ web: "a" }, key("a"));
  const changing = (change: WatchOutcome["change"]): WatchOutcome => ({
    ...{ filtered, keys: [], change, revision: 3 },
    record: change === "remove" || change === "keep" ? undefined : record,
  });

  /** Makes changes against a record with this revision, and returns those that were stored. */
  async function made(outcome: WatchOutcome, revision: number) {
    const stored: (WatchRecord | undefined)[] = [];
    let current = revision;
    const replace: WatchRecords["replace"] = async (_at, _ordinal, expected, record) => {
      if (expected !== current) return undefined;
      stored.push(record);
      return ++current;
    };
    const changes = new RecordChanges(at, replace, [outcome]);
    await changes.enter();
    const entered = stored.length;
    return { overtaken: await changes.finish(), entered, stored };
  }

  test("a first record is stored before the requests without a projection, and completed after them", async () => {
    const { projection: _, ...entering } = record as WatchRecord;
    expect(await made(changing("enter"), 3)).toEqual({
      overtaken: [],
      entered: 1,
      stored: [entering, record],
    });
  });

  test("other changes are stored only after the requests", async () => {
    expect(await made(changing("replace"), 3)).toEqual({ overtaken: [], entered: 0, stored: [record] });
    expect(await made(changing("remove"), 3)).toEqual({ overtaken: [], entered: 0, stored: [undefined] });
    expect(await made(changing("keep"), 3)).toEqual({ overtaken: [], entered: 0, stored: [] });
  });

  test.each(["enter", "replace", "remove"] as const)(
    "a record that another replica has changed is judged again after %s",
    async (change) => {
      expect(await made(changing(change), 4)).toEqual({ overtaken: [filtered], entered: 0, stored: [] });
    },
  );
});
