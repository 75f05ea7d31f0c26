/** `denrei new function`: a kind, its reconciler, a case and its test, in this repository. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { functions } from "../../../functions/index.ts";
import { AbsentError } from "../../environment/errors.ts";
import { say } from "../output.ts";
import { plannedFiles } from "./files.ts";
import { type NewFunction, scaffoldOf } from "./scaffold.ts";
import { writeAll } from "./write.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

/** Writes the files, or with `dryRun` only tells which. Nothing is written when anything is wrong. */
export async function newFunction({
  dryRun,
  ...wanted
}: NewFunction & { readonly dryRun?: boolean }): Promise<void> {
  const scaffold = await scaffoldOf(wanted, functions, root);
  const formatter = join(root, "node_modules/.bin/biome");
  // The image has no tests, and nothing to write them with.
  for (const path of ["test/ket", "node_modules/.bin/biome"])
    if (!existsSync(join(root, path)))
      throw new AbsentError(
        `expected a checkout of the repository with its development tools, but there is no ${path} in ${root}. ` +
          "Clone it, and run `npm ci` there.",
      );
  const files = await plannedFiles(scaffold, root);
  if (dryRun) {
    for (const { path, before } of files) say(`would ${before === undefined ? "write" : "change"} ${path}`);
    return;
  }
  const written = await writeAll(root, files);
  const paths = files.map(({ path }) => path);
  try {
    // Names have any length, and lines have not.
    await run(formatter, ["check", "--write", ...paths.filter((path) => path.endsWith(".ts"))], {
      cwd: root,
    });
    await run(process.execPath, ["deploy/generate/main.ts"], { cwd: root });
  } catch (error) {
    await written.undo();
    // What was generated of it goes as well.
    await run(process.execPath, ["deploy/generate/main.ts"], { cwd: root }).catch(() => undefined);
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw new Error(
      `expected the new files to be formatted and generated from, but ${stderr?.trim() || message}`,
    );
  }
  for (const { path, before } of files) say(`${before === undefined ? "wrote" : "changed"} ${path}`);
  say("brought the generated files up to date");
  say("");
  say(`Its test: npx vitest run test/e2e/${scaffold.name}.test.ts`);
  say("What to do next: docs/functions.md");
}
