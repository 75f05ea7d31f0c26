/** Somebody else's project: its function and its test know this one as `denrei` and `denrei/test`. */
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { root, run } from "../../cli/program.ts";

const theirs = fileURLToPath(new URL("../../fixtures/project", import.meta.url));

test("a project with a function and a test of its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ket-project-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(theirs, folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "name": "theirs", "type": "module", "private": true }');
  // Here it is no test of ours.
  await rename(join(folder, "test/greeting.ts"), join(folder, "test/greeting.test.ts"));
  await mkdir(join(folder, "node_modules"));
  // As npm installs a folder.
  await symlink(root, join(folder, "node_modules/denrei"));
  await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { code, stdout, stderr } = await run([vitest, "run"], {
    command: [process.execPath],
    cwd: folder,
    env: { NO_COLOR: "1" },
    longestMillis: 300_000,
  });
  expect(stdout + stderr).toContain("Tests  1 passed (1)");
  expect(code).toBe(0);
}, 300_000);
