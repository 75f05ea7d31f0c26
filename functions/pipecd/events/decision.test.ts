import { describe, expect, test } from "vitest";
import type { EventRecord } from "../api/events.ts";
import { dataDigest, decide, type Known, keyDigest, knownOf, type Registered } from "./decision.ts";

const key = keyDigest("quickstart", { name: "image-update", labels: {} });
const start = 1_700_000_000;

/** An event that was created the given number of seconds after the first one. */
const event = (data: string, after = 0, more: Partial<EventRecord> = {}): EventRecord => ({
  id: `${data}-${after}`,
  name: "image-update",
  labels: {},
  data,
  state: "NotHandled",
  description: "",
  createdAt: start + after,
  ...more,
});

const known = ({ id, data, state, createdAt }: EventRecord, announced?: string): Known => ({
  registered: {
    key,
    digest: dataDigest(data),
    data,
    eventID: id,
    time: new Date(createdAt * 1000).toISOString(),
    state,
    description: "",
  } satisfies Registered,
  announced: announced === undefined ? undefined : { key, digest: dataDigest(announced) },
});
const nothing: Known = { registered: undefined, announced: undefined };
const begun = (data: string): Known => ({ ...nothing, announced: { key, digest: dataDigest(data) } });

/** `events` are newest first, as the client lists them. */
const decided = (value: string | undefined, before: Known, ...events: EventRecord[]) => {
  const { registered, ...rest } = decide(value, key, before, events);
  return { ...rest, id: registered?.eventID, state: registered?.state };
};

describe("a new value", () => {
  test("is due without any event", () => {
    expect(decided("a", nothing)).toMatchObject({ isDue: true, id: undefined });
  });
  test("is due when the last event has other data", () => {
    const a = event("a");
    expect(decided("b", known(a), a)).toMatchObject({ isDue: true, id: a.id });
  });
  test("is due again when it was the value before the current one", () => {
    const [a, b] = [event("a"), event("b", 5)];
    expect(decided("a", known(b), b, a)).toMatchObject({ isDue: true, id: b.id });
  });
  test("is not due when the newest event has it, and that event is adopted", () => {
    const [a, b] = [event("a"), event("b", 5)];
    expect(decided("b", known(a), b, a)).toMatchObject({ isDue: false, found: "adopted", id: b.id });
    expect(decided("b", nothing, b, a)).toMatchObject({ isDue: false, found: "adopted", id: b.id });
  });
  test("is due when another event is newer than the one with this value", () => {
    const [a, b] = [event("a"), event("b", 5)];
    expect(decided("a", nothing, b, a)).toMatchObject({ isDue: true });
  });
});

describe("the value of the last event", () => {
  test("is never due again in any state of the event", () => {
    for (const state of ["NotHandled", "Succeeded", "Failed", "Outdated"] as const) {
      const a = event("a", 0, { state });
      expect(decided("a", known(event("a")), a)).toEqual({ isDue: false, found: "same", id: a.id, state });
    }
  });
  test("is not due when another client has registered other data since", () => {
    const [a, other] = [event("a"), event("other", 5)];
    expect(decided("a", known(a), other, a)).toMatchObject({ isDue: false, id: a.id });
  });
  test("is due when PipeCD has lost an event, unless an agent has handled it", () => {
    expect(decided("a", known(event("a")))).toMatchObject({ isDue: true, found: "lost" });
    expect(decided("a", known(event("a", 0, { state: "Succeeded" })))).toMatchObject({
      isDue: false,
      found: "same",
    });
  });
  test("adopts an event that the user registered after a failure", () => {
    const a = event("a", 0, { state: "Failed" });
    const again = event("a", 60);
    expect(decided("a", known(a), again, a)).toMatchObject({ found: "adopted", id: again.id, isDue: false });
    // An earlier event with the same data does not count.
    const earlier = event("a", -60);
    expect(decided("a", known(a), a, earlier)).toMatchObject({ found: "same", id: a.id });
  });
});

describe("after a worker that died while it registered an event", () => {
  test("adopts the event", () => {
    const [a, b] = [event("a"), event("b", 5)];
    expect(decided("b", known(a, "b"), b, a)).toMatchObject({ isDue: false, found: "adopted", id: b.id });
    expect(decided("a", begun("a"), a)).toMatchObject({ isDue: false, found: "adopted", id: a.id });
  });
  test("the value is due when the event does not exist", () => {
    const a = event("a");
    expect(decided("b", known(a, "b"), a)).toMatchObject({ isDue: true, id: a.id });
    expect(decided("b", begun("b"))).toMatchObject({ isDue: true });
  });
  test("does not adopt an earlier event with the same data", () => {
    const [b, a] = [event("b"), event("a", 5)];
    expect(decided("b", known(a, "b"), a, b)).toMatchObject({ isDue: true, id: a.id });
  });
  test("a value that was restored in the meantime is due, because the other value's event is newer", () => {
    const [a, b] = [event("a"), event("b", 5)];
    expect(decided("a", known(a, "b"), b, a)).toMatchObject({ isDue: true, found: "adopted", id: b.id });
    expect(decided("a", known(a, "b"), a)).toMatchObject({ isDue: false, id: a.id });
  });
  test("finds an event of the same second as the previous one", () => {
    const [a, b] = [event("a"), event("b", 0)];
    expect(decided("b", known(a, "b"), a, b)).toMatchObject({ isDue: false, found: "adopted", id: b.id });
  });
});

test("without a value, tracks the last event and registers none", () => {
  const a = event("a", 0, { state: "Succeeded" });
  expect(decided(undefined, known(event("a")), a)).toMatchObject({ isDue: false, state: "Succeeded" });
  expect(decided(undefined, nothing, a)).toEqual({
    isDue: false,
    found: "same",
    id: undefined,
    state: undefined,
  });
});

test("ignores the status of events with another project, name, or labels", () => {
  const status = { ...known(event("a"), "b"), conditions: [] } as never;
  expect(knownOf(status, key)).toMatchObject({ registered: { data: "a" }, announced: { key } });
  for (const other of [
    keyDigest("other", { name: "image-update", labels: {} }),
    keyDigest("quickstart", { name: "other", labels: {} }),
    keyDigest("quickstart", { name: "image-update", labels: { app: "web" } }),
  ])
    expect(knownOf(status, other)).toEqual(nothing);
});
