/** `denrei new function`: creates a kind, its reconciler, a case, and its test in this repository. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AbsentError, say } from "denrei/runtime";
import { allFunctions } from "../named.ts";
import { plannedFiles } from "./files.ts";
import { type NewFunction, scaffoldOf } from "./scaffold.ts";
import { writeAll } from "./write.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

/** Writes the files, or only prints their names (`dryRun`). Writes nothing if the input is not valid. */
export async function newFunction({
  dryRun,
  ...options
}: NewFunction & { readonly dryRun?: boolean }): Promise<void> {
  const scaffold = await scaffoldOf(options, await allFunctions(), root);
  const formatter = join(root, "node_modules/.bin/biome");
  // The container image has neither tests nor the formatter.
  for (const path of ["test/ket", "node_modules/.bin/biome"])
    if (!existsSync(join(root, path)))
      throw new AbsentError(
        `${root} is not a checkout with development tools: ${path} is missing. Clone the repository and run \`npm ci\`.`,
      );
  const files = await plannedFiles(scaffold, root);
  if (dryRun) {
    for (const { path, before } of files) say(`would ${before === undefined ? "write" : "change"} ${path}`);
    return;
  }
  const written = await writeAll(root, files);
  const paths = files.map(({ path }) => path);
  try {
    // Long names may make lines too long.
    await run(formatter, ["check", "--write", ...paths.filter((path) => path.endsWith(".ts"))], {
      cwd: root,
    });
    await run(process.execPath, ["deploy/generate/main.ts"], { cwd: root });
  } catch (error) {
    await written.undo();
    // Removes what was generated from the new files.
    await run(process.execPath, ["deploy/generate/main.ts"], { cwd: root }).catch(() => undefined);
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw new Error(`failed to format the new files or to generate from them: ${stderr?.trim() || message}`);
  }
  for (const { path, before } of files) say(`${before === undefined ? "wrote" : "changed"} ${path}`);
  say("updated the generated files");
  say("");
  say(`Run its test: npx vitest run test/e2e/${scaffold.name}.test.ts`);
  say("Next steps: docs/functions.md");
}
