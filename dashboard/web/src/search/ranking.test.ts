import { expect, test } from "vitest";
import type { Entry } from "./entry.ts";
import { maxShown, rank } from "./ranking.ts";

const entry = (name: string, more: Partial<Entry> = {}): Entry => ({ id: name, name, to: "/", ...more });
const namesIn = (entries: readonly Entry[], typed: string) =>
  rank([{ name: "", entries }], typed).flatMap((group) => group.entries.map(({ name }) => name));

test("ranks the same name first, then its beginning, then the beginning of a word, then other places", () => {
  const entries = ["cobweb", "my-web", "webhook", "other", "web"].map((name) =>
    entry(name, { words: "web" }),
  );
  expect(namesIn(entries, "Web")).toEqual(["web", "webhook", "my-web", "cobweb", "other"]);
});

test("keeps the order of equally good matches", () => {
  expect(namesIn([entry("web-2"), entry("web-10"), entry("web-1")], "web")).toEqual([
    "web-2",
    "web-10",
    "web-1",
  ]);
});

test("finds entries that contain all words, also in namespace, health, and kind", () => {
  const web = entry("web", { detail: "team-a", health: ["bad", "Rollout failed"], words: "Application" });
  expect(namesIn([web, entry("web-2", { detail: "team-b" })], "rollout web team-a appl")).toEqual(["web"]);
  expect(namesIn([web], "web team-b")).toEqual([]);
});

test("finds everything in the given order without words", () => {
  const groups = [
    { name: "one", entries: [entry("b"), entry("a")] },
    { name: "none", entries: [] },
    { name: "two", entries: [entry("c")] },
  ];
  expect(rank(groups, " ")).toEqual([
    { name: "one", count: 2, entries: [entry("b"), entry("a")] },
    { name: "two", count: 1, entries: [entry("c")] },
  ]);
});

test("puts the group with the best match first", () => {
  const groups = [
    { name: "far", entries: [entry("cobweb")] },
    { name: "near", entries: [entry("webhook")] },
  ];
  expect(rank(groups, "web").map(({ name }) => name)).toEqual(["near", "far"]);
});

test("limits each group and counts all matches, the best one included", () => {
  const entries = Array.from({ length: 1000 }, (_, at) => entry(`my-web-${at}`));
  const [group] = rank([{ name: "many", entries: [...entries, entry("web")] }], "web");
  expect(group?.count).toBe(1001);
  expect(group?.entries).toHaveLength(maxShown);
  expect(group?.entries[0]?.name).toBe("web");
});
