/** Everything that a user can import or run names the needed version on an older Node. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const { engines, exports } = JSON.parse(read("bus/package.json"));
/** Their modules run in a browser as well. */
const inBrowsers = ["./kinds", "./values"];
const modules = Object.entries<string>(exports)
  .filter(([name, path]) => path.endsWith(".ts") && !inBrowsers.includes(name))
  .map(([, path]) => join("bus", path));
const entries = [...modules, "bus/command/main.ts", "test/ket/index.ts"];

const needed = (found: string) =>
  `Error: denrei needs Node 24 or later, found v${found}: install a newer one`;

/** Makes a process believe that it is Node 20. */
const pretendOldNode = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } }); delete Map.groupBy;',
)}`;

test.each(entries)("%s checks the version before anything else", (entry) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", pretendOldNode, join(root, entry)],
    { encoding: "utf8" },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(needed("20.1.0"));
});

test("the package and the launcher have the same version", () => {
  expect(engines.node).toBe(">=24");
  expect(read("bus/command/denrei.js")).toContain('process.versions.node.split(".")[0]) >= 24');
});

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => join(folder, path));

test("no module has syntax that Node 22 rejects before the check runs", () => {
  const found = ["bus", "functions", "deploy", "test/ket"]
    .flatMap(sources)
    .filter((path) => /^\s*(await )?using \w+ =/m.test(read(path)));
  expect(found).toEqual([]);
});

/** The first Node in PATH that is older. */
const olderNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => {
    try {
      return Number(/^v(\d+)/.exec(execFileSync(path, ["--version"], { encoding: "utf8" }))?.[1]) < 24;
    } catch {
      return false;
    }
  });

/** Writes the library as JavaScript, as a published package has it. */
function writeCompiled(folder: string): void {
  for (const path of sources("bus")) {
    const text = stripTypeScriptTypes(read(path)).replaceAll(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, "$1$2.js$1");
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path.replace(/ts$/, "js")), text);
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

describe.skipIf(olderNode === undefined)(`an older Node (${olderNode})`, () => {
  test("loads all modules of the compiled library up to the check", () => {
    const folder = mkdtempSync(join(tmpdir(), "test-node-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeCompiled(folder);
    const { stderr } = spawnSync(olderNode as string, [join(folder, "bus/index.js")], { encoding: "utf8" });
    const version = execFileSync(olderNode as string, ["--version"], { encoding: "utf8" })
      .trim()
      .slice(1);
    expect(stderr).toContain(needed(version));
  });
});
