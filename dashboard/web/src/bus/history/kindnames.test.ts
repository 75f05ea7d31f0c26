import { expect, test } from "vitest";
import { kindCalled, namedKinds } from "./kindnames.ts";

const hikawa = { group: "zundokokiyoshi.kaitoy.github.com", kind: "Hikawa" };
const named = namedKinds([
  { function: "hikawa", for: hikawa },
  { function: "modoki-application", for: { group: "modoki.tsuzu.dev", kind: "Application" } },
]);

test.each([
  ["Hikawa", hikawa],
  ["hikawa", hikawa],
  [" modoki-application ", { group: "modoki.tsuzu.dev", kind: "Application" }],
  ["Application", { group: "modoki.tsuzu.dev", kind: "Application" }],
  ["Application.example.com", { group: "example.com", kind: "Application" }],
  ["Secret", { group: "", kind: "Secret" }],
])("resolves %j to %j", (text, kind) => {
  expect(kindCalled(text, named)).toEqual(kind);
});

test("suggests each kind once, and its functions", () => {
  const called = named.map(({ called }) => called);
  expect(called.filter((name) => name === "Application")).toHaveLength(1);
  expect(called).toContain("modoki-application");
  expect(called).toEqual([...called].sort());
});
