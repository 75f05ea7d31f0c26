import { expect, test } from "vitest";
import { inOrder } from "./chronicle.ts";

const change = (uid: string, version: number, what: string) => ({
  uid,
  resourceVersion: String(version),
  at: 0,
  fact: { by: "", what },
});

const deed = (version: number, what: string, uid: string, seen: number) => ({
  ...change(`event ${version}`, version, what),
  fact: { by: "worker-1", what, seen: { uid, resourceVersion: String(seen) } },
});

test("changes are told in the order of their versions, of which 9 is before 10", () => {
  const known = [change("a", 10, "then"), change("b", 9, "first"), change("a", 100, "last")];
  inOrder(known);
  expect(known.map(({ fact }) => fact.what)).toEqual(["first", "then", "last"]);
});

test("an Event that is written late is told before what came of the deed, and after what the deed saw", () => {
  const known = [
    deed(14, "registered", "a", 8),
    change("a", 13, "ready"),
    change("b", 12, "runs"),
    change("a", 8, "applied"),
  ];
  inOrder(known);
  expect(known.map(({ fact }) => fact.what)).toEqual(["applied", "runs", "registered", "ready"]);
});

test("an Event in time stays where it is, whatever becomes of other objects", () => {
  const known = [change("a", 13, "ready"), deed(12, "registered", "a", 8), change("b", 11, "runs")];
  inOrder(known);
  expect(known.map(({ fact }) => fact.what)).toEqual(["runs", "registered", "ready"]);
});
