import { expect, test } from "vitest";
import { kindAliases, resolveKind } from "./kindnames.ts";

const hikawa = { group: "zundokokiyoshi.kaitoy.github.com", kind: "Hikawa" };
const known = kindAliases([
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
  expect(resolveKind(text, known)).toEqual(kind);
});

test("suggests each kind once, and its functions", () => {
  const aliases = known.map(({ alias }) => alias);
  expect(aliases.filter((name) => name === "Application")).toHaveLength(1);
  expect(aliases).toContain("modoki-application");
  expect(aliases).toEqual([...aliases].sort());
});
