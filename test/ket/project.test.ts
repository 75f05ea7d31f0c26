/** A user's project: its functions and its test import `denrei` and `denrei/test`. */
/** A user's project: its functions and its test import `denrei` and `@denrei/test`. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root, run } from "../cli/program.ts";
import { platformPrograms, programs } from "../harness/programs.ts";

await programs(...platformPrograms);

const theirs = fileURLToPath(new URL("../fixtures/project", import.meta.url));
/** The documentation page that describes it. */
const page = await readFile(join(root, "docs/functions.md"), "utf8");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-project-"));
  await cp(theirs, folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "name": "theirs", "type": "module", "private": true }');
  // Renamed here so that our own test run ignores it.
  await rename(join(folder, "test/greeting.ts"), join(folder, "test/greeting.test.ts"));
  for (const scope of ["@types", "@denrei"])
    await mkdir(join(folder, "node_modules", scope), { recursive: true });
  // As npm installs a folder.
  await symlink(join(root, "bus"), join(folder, "node_modules/denrei"));
  await symlink(join(root, "test/ket"), join(folder, "node_modules/@denrei/test"));
  for (const name of ["vitest", "@types/node"])
    await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const installed = (path: string, ...args: string[]) =>
  run([join(root, "node_modules", path), ...args], {
    command: [process.execPath],
    cwd: folder,
    env: { NO_COLOR: "1" },
  });
const typecheck = () => installed("typescript/bin/tsc", "--noEmit", "-p", ".");

test("runs the test of a project with its own function", async () => {
  const { code, stdout, stderr } = await installed("vitest/vitest.mjs", "run");
  expect(stdout + stderr).toContain("Tests  1 passed (1)");
  expect(code).toBe(0);
});

test("type-checks the project as documented, and the documented function imports only denrei", async () => {
  for (const file of ["kinds/greeting.ts", "greeting.ts"]) {
    const [, text = ""] = page.split(`\`functions/greeting/${file}\` becomes:\n\n\`\`\`ts\n`);
    const code = text.slice(0, text.indexOf("```"));
    expect(code).toContain('from "denrei');
    const path = join(folder, "src/page", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }
  await writeFile(join(folder, "src/page/kinds.ts"), 'export { Greeting } from "./kinds/greeting.ts";\n');
  const [, config = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
  await writeFile(join(folder, "tsconfig.json"), config);
  expect(await typecheck()).toMatchObject({ stdout: "", stderr: "", code: 0 });
});

test("type-checks a project that extends nothing with the documented options", async () => {
  const compilerOptions = {
    module: "nodenext",
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    lib: ["es2024"],
  };
  for (const option of Object.keys(compilerOptions).slice(1)) expect(page).toContain(`\`${option}\``);
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["src", "test"] }),
  );
  expect(await typecheck()).toMatchObject({ stdout: "", stderr: "", code: 0 });
});
