import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { UsageError } from "../../../bus/command/errors.ts";
import { functions } from "../../../functions/index.ts";
import { layoutOf } from "../layout.ts";
import { plannedFiles } from "./files.ts";
import { projectKinds } from "./knownkinds.ts";
import { type NewFunction, scaffoldOf, type Target } from "./scaffold.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const layout = layoutOf(root);
const target: Target = {
  root,
  layout,
  config: "denrei.config.ts",
  functions,
  kinds: await projectKinds(root, layout),
};
const planned = async (options: Partial<NewFunction>) =>
  plannedFiles(scaffoldOf({ name: "scaffolded", for: "Scaffolded", ...options }, target), target);

describe("rejects", () => {
  test.each<[options: Partial<NewFunction>, message: string]>([
    [{ name: "Scaffolded" }, "expected a function name of lower-case letters"],
    [{ name: "worker" }, 'expected a function name other than "worker"'],
    [{ name: "hikawa" }, "denrei.config.ts already has the function hikawa"],
    [{ for: "scaffolded" }, "is not in PascalCase"],
    [{ for: "Greet-ing" }, 'the kind "Greet-ing" is not in PascalCase'],
    [{ for: "Promise" }, "which has a meaning in TypeScript"],
    [{ for: "deployment" }, 'the kind "deployment" is not in PascalCase (did you mean Deployment?)'],
    [{ for: "Deploymnet" }, 'no kind is named "Deploymnet" (did you mean Deployment?)'],
    [{ for: undefined }, "expected --for <Kind>, or --external <group/version/Kind>"],
    [{ external: "example.com/v1/Widget" }, "--for and --external both name the kind"],
    [
      { for: undefined, external: "Widget" },
      '--external "Widget" is not a kind: expected group/version/Kind',
    ],
    [{ for: "Deployment", scope: "Cluster" }, "Deployment of denrei has the scope Namespaced"],
    [
      { for: "Hikawa", group: "zundokokiyoshi.kaitoy.github.com" },
      "functions/zundoko/kinds.ts already has the kind Hikawa",
    ],
    [{ for: "HIKAWA", system: "zundoko" }, "already has the plural hikawas"],
    [{ for: "Application" }, "functions/paas/kinds.ts and functions/pipecd/kinds.ts both have a kind"],
    [{ group: "scaffoldeds" }, "is not a domain name"],
    [{ group: "apps.k8s.io" }, "is reserved for Kubernetes"],
    [{ system: "../elsewhere" }, "is not a folder name: expected lower-case letters"],
    [{ owns: ["Node"] }, '--owns "Node" is not a known kind'],
    [{ watches: ["ConfigMaps"] }, '--watches "ConfigMaps" is not a known kind (did you mean ConfigMap?)'],
    [{ owns: ["Namespace"] }, "--owns Namespace: the kind is cluster-scoped"],
    [{ name: "kinds", system: "scaffoldeds" }, "the file functions/scaffoldeds/kinds.ts already exists"],
    [{ name: "song", system: "zundoko" }, "the file functions/zundoko/song.ts already exists"],
  ])("%j", async (options, message) => {
    const rejected = planned(options);
    await expect(rejected).rejects.toThrow(message);
    await expect(rejected).rejects.toThrow(UsageError);
  });
});

test("a function of an existing system has its group and version, and may own its kinds", async () => {
  const files = await planned({ system: "zundoko", owns: ["Zundoko", "ConfigMap"] });
  const text = (path: string) => files.find((file) => file.path === path)?.text;
  expect(text("functions/zundoko/kinds/scaffolded.ts")).toContain(
    'group: "zundokokiyoshi.kaitoy.github.com",\n  version: "v1beta1",',
  );
  expect(text("functions/zundoko/scaffolded.ts")).toContain("owns: [Zundoko, ConfigMap],");
  expect(text("functions/zundoko/scaffolded.ts")).toContain(
    'import { Scaffolded, Zundoko } from "./kinds.ts";',
  );
});

test("keeps existing lines", async () => {
  for (const { path, text, before } of await planned({ system: "zundoko" })) {
    const changed = path === "denrei.config.ts" || path === "functions/zundoko/kinds.ts";
    expect(before !== undefined, path).toBe(changed);
    for (const line of before?.split("\n") ?? []) expect(text).toContain(line);
  }
});

/** The planned files of a project elsewhere, by path. */
async function inProject(options: Partial<NewFunction>): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "test-new-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "denrei.config.ts"), "export default defineConfig({ functions: {} });\n");
  const project = { ...target, root: folder, layout: layoutOf(folder), kinds: [], functions: [] };
  const files = await plannedFiles(scaffoldOf({ name: "census", ...options }, project), project);
  return new Map(files.map(({ path, text }) => [path, text]));
}

test("a function for a kind of Kubernetes imports the kind, and its case is an object that the API server accepts", async () => {
  const files = await inProject({ for: "Deployment" });
  expect([...files.keys()]).toEqual([
    "functions/census/census.ts",
    "test/cases/census/first/given.yaml",
    "test/cases/census/first/expect.yaml",
    "test/census.test.ts",
    "denrei.config.ts",
  ]);
  expect(files.get("functions/census/census.ts")).toContain(
    'import { Deployment, defineFunction } from "denrei";',
  );
  expect(parse(files.get("test/cases/census/first/given.yaml") ?? "")).toMatchObject({
    apiVersion: "apps/v1",
    spec: { selector: { matchLabels: { app: "first" } } },
  });
  expect(files.get("denrei.config.ts")).toContain('census: () => import("./functions/census/census.ts"),');
});

test("an external kind is declared with its scope and plural, and its test installs a CRD", async () => {
  const files = await inProject({ external: "gateway.example.com/v1beta1/ProxyClass", scope: "Cluster" });
  expect(files.get("functions/census/kinds/proxyclass.ts")).toContain(
    'group: "gateway.example.com",\n  version: "v1beta1",\n  kind: "ProxyClass",\n  plural: "proxyclasses",\n  scope: "Cluster",',
  );
  expect(parse(files.get("test/crds/proxyclasses.gateway.example.com.yaml") ?? "")).toMatchObject({
    metadata: { name: "proxyclasses.gateway.example.com" },
    spec: { scope: "Cluster", versions: [{ name: "v1beta1" }] },
  });
  expect(files.get("test/census.test.ts")).toContain("./crds/proxyclasses.gateway.example.com.yaml");
});
