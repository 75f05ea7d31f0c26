import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ProjectConfig } from "./config.ts";
import { openProject, type Project } from "./project.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Opens a project with three functions of its own, `a`, `b`, and `c`, and one each of the components `one` and `two`. */
function open(groups: ProjectConfig["groups"], env: Record<string, string> = {}): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "test-project-"));
  folders.push(folder);
  const config = `
    const fn = (name) => ({ name, reconcile() {} });
    const component = (name) => ({ name, functions: { ["of-" + name]: async () => ({ default: fn("of-" + name) }) } });
    export default {
      functions: [fn("a"), fn("b"), fn("c")],
      components: [component("one"), component("two")],
      groups: ${JSON.stringify(groups)},
    };`;
  writeFileSync(join(folder, "denrei.config.js"), config);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return openProject(folder, env);
}

describe("groups", () => {
  test("load their functions, each once", async () => {
    const project = await open({ pair: ["c", "a"] });
    const names = async (...selected: string[]) => (await project.load(selected)).map(({ name }) => name);
    expect(await names("pair")).toEqual(["c", "a"]);
    expect(await names("a", "pair", "b")).toEqual(["a", "c", "b"]);
    await expect(project.load(["pear"])).rejects.toThrow(
      'unknown function "pear" (did you mean pair?): expected one of a, b, c, of-one, of-two, pair, or all',
    );
  });

  test.each<[ProjectConfig["groups"], string]>([
    [{ Pair: ["a"] }, "expected a group name of lower-case letters"],
    [{ gateway: ["a"] }, 'expected a group name other than "gateway"'],
    [{ all: ["a"] }, 'expected a group name other than "all"'],
    [{ a: ["b"] }, "the group a has the name of a function: rename the group"],
    [{ pair: [] }, "the group pair has no functions"],
    [{ pair: ["a", "d"] }, 'the group pair lists the unknown function "d"'],
    [{ pair: ["a", "b", "a"] }, "the group pair lists the function a twice"],
    [{ pair: ["a"], other: ["a"] }, "the function a is in the groups pair and other: keep it in one of them"],
  ])("%j are refused: %s", async (groups, message) => {
    await expect(open(groups)).rejects.toThrow(message);
  });
});

describe("DENREI_COMPONENTS", () => {
  test("selects components, and leaves out the others, also from groups", async () => {
    const groups = { mixed: ["a", "of-one", "of-two"] };
    const project = await open(groups, { DENREI_COMPONENTS: "one" });
    expect(project.functionNames).toEqual(["a", "b", "c", "of-one"]);
    expect(project.groups.get("mixed")).toEqual(["a", "of-one"]);
    await expect(project.load(["of-two"])).rejects.toThrow('unknown function "of-two"');
  });

  test("counts as unset if empty", async () => {
    const { functionNames } = await open({}, { DENREI_COMPONENTS: "" });
    expect(functionNames).toEqual(["a", "b", "c", "of-one", "of-two"]);
  });

  test("none leaves only the project's own functions", async () => {
    const { functionNames, components } = await open({}, { DENREI_COMPONENTS: "none" });
    expect([functionNames, components.size]).toEqual([["a", "b", "c"], 0]);
  });

  test("refuses a name that the project does not have", async () => {
    await expect(open({}, { DENREI_COMPONENTS: "one, tow" })).rejects.toThrow(
      'DENREI_COMPONENTS: unknown component "tow" (did you mean two?): expected some of one, two',
    );
  });
});
