/** The files of a new function. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { UsageError } from "../../environment/errors.ts";
import type { OwnedKind, Scaffold } from "./scaffold.ts";

/** A file as it will be. */
export interface PlannedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** What it is now; undefined when it is new. */
  readonly before: string | undefined;
}

const catalogPath = "functions/catalog.ts";

/** Plans all of them. Throws {@link UsageError} when there is one of a new one's name. */
export async function plannedFiles(scaffold: Scaffold, root: string): Promise<PlannedFile[]> {
  const { name, kind, system } = scaffold;
  const folder = `functions/${system}`;
  const kindPath = `${folder}/kinds/${kind.toLowerCase()}.ts`;
  const functionPath = `${folder}/${name}.ts`;
  const cases = `test/fixtures/cases/${name}/first`;
  const fresh: PlannedFile[] = await Promise.all(
    (
      [
        [kindPath, "kind.ts", wordsOf(scaffold, kindPath)],
        [functionPath, "reconciler.ts", wordsOf(scaffold, functionPath)],
        [`${cases}/given.yaml`, "given.yaml", wordsOf(scaffold, cases)],
        [`${cases}/expect.yaml`, "expect.yaml", wordsOf(scaffold, cases)],
        [`test/e2e/${name}.test.ts`, "test.ts", wordsOf(scaffold, "test/e2e")],
      ] as const
    ).map(async ([path, template, words]) => ({
      path,
      text: await filledIn(template, words),
      before: undefined,
    })),
  );
  const exported = `export { ${kind} } from "./kinds/${kind.toLowerCase()}.ts";\n`;
  const changed = [
    await appended(root, `${folder}/kinds.ts`, exported, `/** Kinds of ${system}. */\n`),
    await registered(root, name, system),
  ];
  const planned = [...fresh, ...changed];
  const twice = planned.find(({ path }, at) => planned.findIndex((other) => other.path === path) !== at);
  const there = fresh.find(({ path }) => existsSync(join(root, path)));
  const conflict = twice ?? there;
  if (conflict !== undefined)
    throw new UsageError(
      `expected no file ${conflict.path}, found one. Choose another name, or move it away.`,
    );
  return planned;
}

/** What stands for a name in a template. */
function wordsOf(scaffold: Scaffold, path: string): Readonly<Record<string, string>> {
  const { kind, owns, system } = scaffold;
  const from = posix.dirname(path);
  const to = (module: string) => {
    const relative = posix.relative(from, module);
    return relative.startsWith(".") ? relative : `./${relative}`;
  };
  const imported: readonly OwnedKind[] = [
    { name: kind, module: `functions/${system}/kinds.ts` },
    { name: "defineFunction", module: "bus/worker/function.ts" },
    ...owns,
  ];
  const imports = [...Map.groupBy(imported, ({ module }) => to(module))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([module, names]) => `import { ${names.map(({ name }) => name).join(", ")} } from "${module}";`);
  const listOf = ({ name }: OwnedKind) => `${name.charAt(0).toLowerCase()}${name.slice(1)}s`;
  const children = owns.map((one) => `    const ${listOf(one)} = await ctx.read.children(${one.name});`);
  const counts = owns.map((one) => `\${${listOf(one)}.length} ${one.name}s`);
  return {
    Kind: kind,
    name: scaffold.name,
    group: scaffold.group,
    version: scaffold.version,
    system,
    toBus: to("bus"),
    imports: imports.join("\n"),
    owns: owns.length === 0 ? "" : `  owns: [${owns.map(({ name }) => name).join(", ")}],`,
    children: children.join("\n"),
    told: owns.length === 0 ? "message" : `\`\${message} (with ${counts.join(", ")})\``,
  };
}

async function filledIn(template: string, words: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(new URL(`templates/${template}.template`, import.meta.url), "utf8");
  // A line of nothing but a word that is empty goes.
  const lines = text.split("\n").filter((line) => words[/^\{\{(\w+)\}\}$/.exec(line)?.[1] ?? ""] !== "");
  return lines.join("\n").replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => words[word] ?? "");
}

async function appended(root: string, path: string, line: string, head: string): Promise<PlannedFile> {
  const file = join(root, path);
  const before = existsSync(file) ? await readFile(file, "utf8") : undefined;
  return { path, text: (before ?? head) + line, before };
}

async function registered(root: string, name: string, system: string): Promise<PlannedFile> {
  const before = await readFile(join(root, catalogPath), "utf8");
  const end = before.lastIndexOf("\n};");
  if (end < 0)
    throw new UsageError(
      `expected ${catalogPath} to end with the list of functions, found no "};" at a line's start`,
    );
  const key = /^[a-z]\w*$/.test(name) ? name : `"${name}"`;
  const entry = `\n  ${key}: () => import("./${system}/${name}.ts"),`;
  return { path: catalogPath, text: before.slice(0, end) + entry + before.slice(end), before };
}
