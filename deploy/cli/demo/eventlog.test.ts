import { expect, test } from "vitest";
import { sortEntries } from "./eventlog.ts";

const change = (uid: string, version: number, text: string) => ({
  uid,
  resourceVersion: String(version),
  at: 0,
  entry: { actor: "", text },
});

const action = (version: number, text: string, uid: string, seen: number) => ({
  ...change(`event ${version}`, version, text),
  entry: { actor: "worker-1", text, seen: { uid, resourceVersion: String(seen) } },
});

test("sorts changes by version as numbers: 9 before 10", () => {
  const known = [change("a", 10, "then"), change("b", 9, "first"), change("a", 100, "last")];
  sortEntries(known);
  expect(known.map(({ entry }) => entry.text)).toEqual(["first", "then", "last"]);
});

test("puts a late Event after the version that the actor saw, and before the change that followed", () => {
  const known = [
    action(14, "registered", "a", 8),
    change("a", 13, "ready"),
    change("b", 12, "runs"),
    change("a", 8, "applied"),
  ];
  sortEntries(known);
  expect(known.map(({ entry }) => entry.text)).toEqual(["applied", "runs", "registered", "ready"]);
});

test("keeps the position of an Event that is not late", () => {
  const known = [change("a", 13, "ready"), action(12, "registered", "a", 8), change("b", 11, "runs")];
  sortEntries(known);
  expect(known.map(({ entry }) => entry.text)).toEqual(["runs", "registered", "ready"]);
});
