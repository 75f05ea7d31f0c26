import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../bus/command/errors.ts";
import { functions } from "../../../functions/index.ts";
import { plannedFiles } from "./files.ts";
import { type NewFunction, scaffoldOf } from "./scaffold.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const planned = async (options: Partial<NewFunction>) =>
  plannedFiles(
    await scaffoldOf({ name: "scaffolded", for: "Scaffolded", ...options }, functions, root),
    root,
  );

describe("rejects", () => {
  test.each<[options: Partial<NewFunction>, message: string]>([
    [{ name: "Scaffolded" }, "expected a function name of lower-case letters"],
    [{ name: "worker" }, 'expected a function name other than "worker"'],
    [{ name: "hikawa" }, "denrei.config.ts already has the function hikawa"],
    [{ for: "scaffolded" }, "is not in PascalCase"],
    [{ for: "Greet-ing" }, 'the kind "Greet-ing" is not in PascalCase'],
    [{ for: "Promise" }, "which has a meaning in TypeScript"],
    [{ for: "Hikawa", system: "zundoko" }, "functions/zundoko/kinds.ts already has the kind Hikawa"],
    [{ for: "HIKAWA", system: "zundoko" }, "already has the plural hikawas"],
    [{ for: "Hikawa", group: "zundokokiyoshi.kaitoy.github.com" }, "already has the plural hikawas"],
    [{ group: "scaffoldeds" }, "is not a domain name"],
    [{ group: "apps.k8s.io" }, "is reserved for Kubernetes"],
    [{ system: "../elsewhere" }, "is not a folder name: expected lower-case letters"],
    [{ owns: ["Node"] }, '--owns "Node" is not a known namespaced kind'],
    [
      { owns: ["Namespace"] },
      '--owns "Namespace" is not a known namespaced kind: expected some of ConfigMap, ',
    ],
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
