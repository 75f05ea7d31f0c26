import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { functions } from "../../../functions/index.ts";
import { UsageError } from "../../environment/errors.ts";
import { plannedFiles } from "./files.ts";
import { type NewFunction, scaffoldOf } from "./scaffold.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const planned = async (wanted: Partial<NewFunction>) =>
  plannedFiles(await scaffoldOf({ name: "scaffolded", for: "Scaffolded", ...wanted }, functions, root), root);

describe("refused:", () => {
  test.each<[wanted: Partial<NewFunction>, says: string]>([
    [{ name: "Scaffolded" }, "expected a function name of lower-case letters"],
    [{ name: "worker" }, 'expected a function name other than "worker"'],
    [{ name: "hikawa" }, "functions/catalog.ts has hikawa"],
    [{ for: "scaffolded" }, "expected a kind in PascalCase"],
    [{ for: "Greet-ing" }, 'found "Greet-ing"'],
    [{ for: "Promise" }, "which is a word of the language"],
    [{ for: "Hikawa", system: "zundoko" }, "functions/zundoko/kinds.ts has Hikawa"],
    [{ for: "HIKAWA", system: "zundoko" }, "has the plural hikawas as well"],
    [{ for: "Hikawa", group: "zundokokiyoshi.kaitoy.github.com" }, "has the plural hikawas as well"],
    [{ group: "scaffoldeds" }, "expected a domain name for --group"],
    [{ group: "apps.k8s.io" }, "is protected by Kubernetes"],
    [{ system: "../elsewhere" }, "expected a folder of lower-case letters"],
    [{ owns: ["Node"] }, 'found "Node"'],
    [{ owns: ["Namespace"] }, "expected kinds that live in namespaces for --owns (ConfigMap, "],
    [{ name: "kinds", system: "scaffoldeds" }, "expected no file functions/scaffoldeds/kinds.ts, found one"],
    [{ name: "song", system: "zundoko" }, "expected no file functions/zundoko/song.ts, found one"],
  ])("%j", async (wanted, says) => {
    const refused = planned(wanted);
    await expect(refused).rejects.toThrow(says);
    await expect(refused).rejects.toThrow(UsageError);
  });
});

test("a function of a system has the group and version of its kinds, and may own these", async () => {
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

test("what is there already is kept", async () => {
  for (const { path, text, before } of await planned({ system: "zundoko" })) {
    const changed = path === "functions/catalog.ts" || path === "functions/zundoko/kinds.ts";
    expect(before !== undefined, path).toBe(changed);
    for (const line of before?.split("\n") ?? []) expect(text).toContain(line);
  }
});
