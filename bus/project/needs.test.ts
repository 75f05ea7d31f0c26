import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ConfigMap, externalKind, Pod } from "../kube/kind.ts";
import { github } from "../webhooks/github/github.ts";
import { defineFunction } from "../worker/function.ts";
import { bridgeNeeds, gatewayNeeds, needsOf } from "../worker/needs.ts";
import { runFromBundle } from "./bundle.ts";
import { needsOfProject, writeNeeds } from "./needs.ts";
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
  import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
  import { defineProvider } from ${JSON.stringify(new URL("../webhooks/provider.ts", import.meta.url).href)};
  import { defineFunction } from ${JSON.stringify(new URL("../worker/function.ts", import.meta.url).href)};
  export default defineFunction({ name: "${name}", for: ConfigMap, ${more} async reconcile() {} });`;

const ownProvider = `webhooks: [defineProvider({
    name: "acme", signature: {}, event: { header: "X-Acme-Event" }, events: ["sold"],
  }).on("sold", { select: z.object({}), keys: () => [] })],`;
const lists = "ownsListed: { configMap: 'listed', kindsIn: () => [], rightsCommand: 'grant' },";
const files: Readonly<Record<string, string>> = {
  "denrei.config.js": `export default { functions: {
    recorded: () => import("./recorded.mjs"), listing: () => import("./listing.mjs"), providing: () => import("./providing.mjs"),
    later: () => import("./later.mjs"),
  } };`,
  "recorded.mjs": "throw new Error('loaded');",
  "listing.mjs": moduleOf("listing", lists),
  "providing.mjs": moduleOf("providing", ownProvider),
  "later.mjs": moduleOf("later", ""),
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "denrei-needs-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { default: listing } = await import(join(folder, "listing.mjs"));
  const { default: providing } = await import(join(folder, "providing.mjs"));
  await writeNeeds(folder, needsOf([recorded, listing, providing]));
  runFromBundle(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["bridge", "lists", [0, 1, 0, 0]],
  ["gateway", "providers", [0, 0, 1, 0]],
] as const)(
  "a bundled %s loads only functions with %s, or whose needs are not recorded",
  async (_, part, found) => {
    const needs = await needsOfProject(await openProject(), part);
    expect(needs.map(({ name }) => name)).toEqual(["recorded", "listing", "providing", "later"]);
    expect(needs.map((one) => one[part].length)).toEqual(found);
  },
);

test("recorded needs have the same effect as the function's", async () => {
  const [read = expect.fail()] = await needsOfProject(await openProject(), "lists");
  expect(bridgeNeeds([read], "c")).toEqual(bridgeNeeds(needsOf([recorded]), "c"));
  expect(gatewayNeeds([read])).toEqual(gatewayNeeds(needsOf([recorded])));
});
