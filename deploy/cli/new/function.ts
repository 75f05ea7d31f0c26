/** `denrei new function`: creates a function, its first case, its test, and, if it is new, its kind in a project. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { AbsentError, openProject, say } from "denrei/runtime";
import { layoutOf } from "../layout.ts";
import { needsCrd, plannedFiles } from "./files.ts";
import { projectKinds } from "./knownkinds.ts";
import { type NewFunction, scaffoldOf, type Target } from "./scaffold.ts";
import { type PlannedFile, writeAll } from "./write.ts";

const run = promisify(execFile);

/** Writes the files, or only prints their names (`dryRun`). Writes nothing if the input is not valid. */
export async function newFunction({
  dryRun,
  ...options
}: NewFunction & { readonly dryRun?: boolean }): Promise<void> {
  const target = await openTarget();
  const scaffold = scaffoldOf(options, target);
  const files = await plannedFiles(scaffold, target);
  if (dryRun) {
    for (const { path, before } of files) say(`would ${before === undefined ? "write" : "change"} ${path}`);
    return;
  }
  const { root, layout } = target;
  const isOurs = layout.origin === "repository";
  if (isOurs) await writeAndGenerate(root, files);
  else await writeAll(root, files);
  for (const { path, before } of files) say(`${before === undefined ? "wrote" : "changed"} ${path}`);
  const test = `Run its test: npx vitest run ${layout.testOf(scaffold.name)}`;
  const next = isOurs
    ? ["updated the generated files", "", test, "Next steps: docs/functions.md"]
    : ["", test, `Run it, and reload it when you save a file: npx denrei dev ${scaffold.name}`];
  if (needsCrd(scaffold.subject))
    next.push(`A local platform serves ${scaffold.subject.name} once you have applied its CRD there.`);
  say(next.join("\n"));
}

async function openTarget(): Promise<Target> {
  const project = await openProject();
  const { folder: root, file } = project;
  const layout = layoutOf(root);
  const kinds = await projectKinds(root, layout);
  return { root, layout, config: basename(file), functions: await project.all(), kinds };
}

/** Writes files in the repository, formats them, and updates what is generated from them. Undoes everything after an error. */
async function writeAndGenerate(root: string, files: readonly PlannedFile[]): Promise<void> {
  const formatter = join(root, "node_modules/.bin/biome");
  // The container image has neither tests nor the formatter.
  for (const path of ["test/ket", "node_modules/.bin/biome"])
    if (!existsSync(join(root, path)))
      throw new AbsentError(
        `${root} is not a checkout with development tools: ${path} is missing. Clone the repository and run \`npm ci\`.`,
      );
  const generate = () => run(process.execPath, ["deploy/generate/main.ts"], { cwd: root });
  const written = await writeAll(root, files);
  const sources = files.map(({ path }) => path).filter((path) => path.endsWith(".ts"));
  try {
    // Long names may make lines too long.
    await run(formatter, ["check", "--write", ...sources], { cwd: root });
    await generate();
  } catch (error) {
    await written.undo();
    // Removes what was generated from the new files.
    await generate().catch(() => undefined);
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw new Error(`failed to format the new files or to generate from them: ${stderr?.trim() || message}`);
  }
}
