/**
 * `npm run api [-- --check]`: writes the report and the reference of the public API to docs/api, or only reports whether they are up to
 * date. A public declaration without a doc comment, and a public type that no entry point exports, are errors.
 */
import { glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { entryPointsOf, root, workspaces } from "../workspaces.ts";
import { withDeclarations } from "./declarations.ts";
import { extractApis } from "./extract.ts";
import { type Api, exportedIdentities, textOf, unexportedValues } from "./model.ts";
import { referencePages } from "./reference.ts";

const folder = join(root, "docs/api");

/** All files of the folder, by path within it. */
async function filesOf(apis: readonly Api[]): Promise<ReadonlyMap<string, string>> {
  const exported = exportedIdentities(apis);
  const reports = apis.map(
    (api) => [`reports/${api.entryPoint.slug}.api.md`, reportText(api, exported)] as const,
  );
  return new Map([...(await referencePages(apis)), ...reports]);
}

/** The declarations of an entry point, and the values that their types are made from. */
function reportText(api: Api, exported: ReadonlySet<string>): string {
  const values = unexportedValues(api, exported).map((item) =>
    textOf(item).replace(/^export (declare )?/, ""),
  );
  if (values.length === 0) return api.report;
  return `${api.report}\nNot exported, but part of these types:\n\n\`\`\`ts\n${values.join("\n\n")}\n\`\`\`\n`;
}

/** The files that differ from the folder's, are missing there, or should not be there. */
async function changedFiles(desired: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const paths = new Set(desired.keys());
  for await (const path of glob("**/*.md", { cwd: folder })) paths.add(path);
  const changed: string[] = [];
  for (const path of [...paths].sort()) {
    const found = await readFile(join(folder, path), "utf8").catch(() => undefined);
    if (found !== desired.get(path)) changed.push(path);
  }
  return changed;
}

async function write(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(join(folder, path));
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const all = await workspaces();
const { apis, problems } = await withDeclarations(all, (declarations) =>
  extractApis(declarations, all.flatMap(entryPointsOf)),
);
for (const problem of problems) console.error(problem);
const desired = await filesOf(apis);
const changed = await changedFiles(desired);
for (const path of changed) {
  if (!values.check) await write(path, desired.get(path));
  console[values.check ? "error" : "log"](
    values.check ? `docs/api/${path}: outdated` : `wrote docs/api/${path}`,
  );
}
if (values.check && changed.length > 0)
  console.error(
    "The public API or its doc comments changed. Run npm run api, review the change of docs/api/reports as users would, and commit it. A removed or changed declaration needs a line in CHANGELOG.md.",
  );
if (problems.length > 0 || (values.check && changed.length > 0)) process.exitCode = 1;
else if (changed.length === 0)
  console.log(`The API reports and pages of ${apis.length} entry points are up to date.`);
