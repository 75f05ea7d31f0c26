/** The files of a new function. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { UsageError } from "denrei/runtime";
import type { OwnedKind, Scaffold } from "./scaffold.ts";

/** A file to write. */
export interface PlannedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** The present text; undefined for a new file. */
  readonly before: string | undefined;
}

const configPath = "denrei.config.ts";

/** Plans all files. Throws a {@link UsageError} if a new file already exists. */
export async function plannedFiles(scaffold: Scaffold, root: string): Promise<PlannedFile[]> {
  const { name, kind, system } = scaffold;
  const folder = `functions/${system}`;
  const kindPath = `${folder}/kinds/${kind.toLowerCase()}.ts`;
  const functionPath = `${folder}/${name}.ts`;
  const cases = `test/fixtures/cases/${name}/first`;
  const created: PlannedFile[] = await Promise.all(
    (
      [
        [kindPath, "kind.ts", valuesOf(scaffold, kindPath)],
        [functionPath, "reconciler.ts", valuesOf(scaffold, functionPath)],
        [`${cases}/given.yaml`, "given.yaml", valuesOf(scaffold, cases)],
        [`${cases}/expect.yaml`, "expect.yaml", valuesOf(scaffold, cases)],
        [`test/e2e/${name}.test.ts`, "test.ts", valuesOf(scaffold, "test/e2e")],
      ] as const
    ).map(async ([path, template, values]) => ({
      path,
      text: await filledIn(template, values),
      before: undefined,
    })),
  );
  const exported = `export { ${kind} } from "./kinds/${kind.toLowerCase()}.ts";\n`;
  const changed = [
    await appended(root, `${folder}/kinds.ts`, exported, `/** Kinds of ${system}. */\n`),
    await registered(root, name, system),
  ];
  const planned = [...created, ...changed];
  const duplicate = planned.find(({ path }, at) => planned.findIndex((other) => other.path === path) !== at);
  const existing = created.find(({ path }) => existsSync(join(root, path)));
  const conflict = duplicate ?? existing;
  if (conflict !== undefined)
    throw new UsageError(`the file ${conflict.path} already exists. Choose another name, or move the file.`);
  return planned;
}

function valuesOf(scaffold: Scaffold, path: string): Readonly<Record<string, string>> {
  const { kind, owns, system } = scaffold;
  const from = posix.dirname(path);
  const to = (module: string) => {
    if (module === "denrei") return module;
    const relative = posix.relative(from, module);
    return relative.startsWith(".") ? relative : `./${relative}`;
  };
  const imported: readonly OwnedKind[] = [
    { name: kind, module: `functions/${system}/kinds.ts` },
    { name: "defineFunction", module: "denrei" },
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
    imports: imports.join("\n"),
    owns: owns.length === 0 ? "" : `  owns: [${owns.map(({ name }) => name).join(", ")}],`,
    children: children.join("\n"),
    message: owns.length === 0 ? "message" : `\`\${message} (with ${counts.join(", ")})\``,
  };
}

async function filledIn(template: string, values: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(new URL(`templates/${template}.template`, import.meta.url), "utf8");
  // Drops lines that consist of an empty placeholder.
  const lines = text.split("\n").filter((line) => values[/^\{\{(\w+)\}\}$/.exec(line)?.[1] ?? ""] !== "");
  return lines.join("\n").replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

async function appended(root: string, path: string, line: string, head: string): Promise<PlannedFile> {
  const file = join(root, path);
  const before = existsSync(file) ? await readFile(file, "utf8") : undefined;
  return { path, text: (before ?? head) + line, before };
}

/** Adds a function to the configuration, first in the list of the project's own functions. */
async function registered(root: string, name: string, system: string): Promise<PlannedFile> {
  const before = await readFile(join(root, configPath), "utf8");
  const key = /^[a-z]\w*$/.test(name) ? name : `"${name}"`;
  const entry = `    ${key}: () => import("./functions/${system}/${name}.ts"),`;
  const [list] = /\bfunctions: \{\n/.exec(before) ?? [];
  const [config] = /\bdefineConfig\(\{\n?/.exec(before) ?? [];
  if (list === undefined && config === undefined)
    throw new UsageError(
      `${configPath} has neither "functions: {" nor "defineConfig({": the function cannot be added to it`,
    );
  const text =
    list === undefined
      ? before.replace(config ?? "", `defineConfig({\n  functions: {\n${entry}\n  },\n`)
      : before.replace(list, `${list}${entry}\n`);
  return { path: configPath, text, before };
}
