import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ConfigMap, externalKind, Pod } from "../kube/kind.ts";
import { github } from "../webhooks/github/github.ts";
import { defineFunction } from "../worker/function.ts";
import { bridgeNeeds, needsOf } from "../worker/needs.ts";
import { runFromBundle } from "./bundle.ts";
import { needsFile, needsOfProject, needsText } from "./needs.ts";
import { openProject } from "./project.ts";

const recorded = defineFunction({
  name: "recorded",
  for: externalKind({ group: "test.denrei.dev", version: "v1", kind: "Thing", plural: "things" }),
  owns: [{ kind: Pod, labels: { matchLabels: { app: "thing" } } }, ConfigMap],
  indexes: { color: () => [] },
  annotations: ["test.denrei.dev/color"],
  webhooks: [github.on("push", { select: z.object({ ref: z.string() }), keys: () => [] })],
  reconcile: async () => undefined,
});

const moduleOf = (name: string, more: string): string => `
  import { ConfigMap } from ${JSON.stringify(new URL("../kube/kind.ts", import.meta.url).href)};
  import { defineFunction } from ${JSON.stringify(new URL("../worker/function.ts", import.meta.url).href)};
  export default defineFunction({ name: "${name}", for: ConfigMap, ${more} async reconcile() {} });`;

const lists = "ownsListed: { configMap: 'listed', kindsIn: () => [], rightsCommand: 'grant' },";
const files: Readonly<Record<string, string>> = {
  "denrei.config.js": `export default { functions: {
    recorded: () => import("./recorded.mjs"), listing: () => import("./listing.mjs"), later: () => import("./later.mjs"),
  } };`,
  "recorded.mjs": "throw new Error('loaded');",
  "listing.mjs": moduleOf("listing", lists),
  "later.mjs": moduleOf("later", ""),
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "denrei-needs-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { default: listing } = await import(join(folder, "listing.mjs"));
  await writeFile(join(folder, needsFile), needsText(needsOf([recorded, listing])));
  runFromBundle(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a bundle loads only functions that list kinds, or whose needs it does not have", async () => {
  const needs = await needsOfProject(await openProject());
  expect(needs.map(({ name }) => name)).toEqual(["recorded", "listing", "later"]);
  expect(needs.map((one) => one.lists.map(({ listed }) => listed.configMap))).toEqual([[], ["listed"], []]);
  const [read] = needs;
  expect(read && bridgeNeeds([read], "c")).toEqual(bridgeNeeds(needsOf([recorded]), "c"));
});
