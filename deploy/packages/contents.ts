/** Checks the files of a packed package: required files, development files, and references to other files. */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type { PackageManifest } from "./manifest.ts";

/** What `npm pack --json` reports about a package. */
export interface Packed {
  readonly name: string;
  readonly filename: string;
  /** In bytes. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** What a package may contain besides compiled modules. */
export interface Rules {
  /** Patterns of files that are published unchanged. */
  readonly files: readonly string[];
  /** Limit of the unpacked size, in MB. */
  readonly megabytes: number;
}

const always = ["package.json", "README.md", "LICENSE", "NOTICE"];
const fields = ["name", "version", "description", "license", "type", "engines", "keywords"];
const developmentFiles = /(^|\/)(node_modules|fixtures|__tests__)\/|\.test\.|\.spec\.|tsconfig\.tsbuildinfo$/;

/** Every violation of the rules, a sentence each. `folder` is the built package. */
export async function contentProblems(
  folder: string,
  packed: Packed,
  rules: Rules,
): Promise<readonly string[]> {
  const paths = new Set(packed.files.map(({ path }) => path));
  const manifest: PackageManifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const megabytes = packed.unpackedSize / 1e6;
  const problems = [
    ...always.filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
    ...fields.filter((field) => !(field in manifest)).map((field) => `package.json has no ${field}`),
    ...(megabytes > rules.megabytes
      ? [
          `it has ${megabytes.toFixed(1)} MB, and its limit is ${rules.megabytes} MB (deploy/packages/packages.ts)`,
        ]
      : []),
    ...entryProblems(manifest, paths),
    ...[...paths].flatMap((path) => fileProblems(path, paths, rules.files)),
    ...(await readmeProblems(folder, manifest.name)),
    ...(await importProblems(folder, paths)),
  ];
  return problems.map((problem) => `${packed.name}: ${problem}`);
}

/** Exports and programs have to exist. TypeScript reads `types` only if it comes first. */
function entryProblems(
  { exports = {}, bin = {} }: PackageManifest,
  paths: ReadonlySet<string>,
): readonly string[] {
  const targets = Object.entries(
    exports as Readonly<Record<string, string | Readonly<Record<string, string>>>>,
  ).flatMap(([name, target]) => {
    if (typeof target === "string") return [[name, target] as const];
    const conditions = Object.keys(target);
    const order =
      conditions.join() === "types,default"
        ? []
        : [[name, `types before default, not ${conditions}`] as const];
    return [...order, ...Object.values(target).map((path) => [name, path] as const)];
  });
  return [...targets, ...Object.entries(bin)]
    .filter(([, target]) => ![...paths].some((path) => isTarget(path, target)))
    .map(([name, target]) => `"${name}" in package.json expects ${target}, which is not in the package`);
}

/** Unlike in a glob, a star in `exports` also stands for folders. */
function isTarget(path: string, target: string): boolean {
  const [before = "", after] = target.replace(/^\.\//, "").split("*");
  return after === undefined ? path === before : path.startsWith(before) && path.endsWith(after);
}

/** A file is a module with declarations and a source map, or is published on purpose. */
function fileProblems(
  path: string,
  paths: ReadonlySet<string>,
  published: readonly string[],
): readonly string[] {
  if (always.includes(path) || path.startsWith("vendor/")) return [];
  if (published.some((pattern) => posix.matchesGlob(path, pattern))) return [];
  if (developmentFiles.test(path)) return [`${path} is only for development`];
  const [, module] = /^(.*?)(\.d\.ts|\.js\.map|\.js)$/.exec(path) ?? [];
  if (module === undefined)
    return [`${path} is neither a compiled module nor listed in deploy/packages/packages.ts`];
  return [`${module}.js`, `${module}.d.ts`, `${module}.js.map`]
    .filter((needed) => !paths.has(needed))
    .map((needed) => `${path} has no ${needed}`);
}

async function readmeProblems(folder: string, name: string): Promise<readonly string[]> {
  const readme = await readFile(join(folder, "README.md"), "utf8").catch(() => "");
  return [
    ...(readme.startsWith(`# ${name}\n`) ? [] : [`README.md does not start with "# ${name}"`]),
    ...(readme.includes("\n```") ? [] : ["README.md shows no use of the package in a code block"]),
  ];
}

const relativeImport = /^(?:import|export)\b[^"';]*?from\s*"(\.[^"]*)"|\bimport\("(\.[^"$]*)"\)/gm;
const comments = /^[ \t]*(?:\/\/|\/?\*).*$/gm;

/** Relative imports lead to files in the package, and source maps contain their sources. */
async function importProblems(folder: string, paths: ReadonlySet<string>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const path of paths) {
    if (path.endsWith(".js.map")) {
      const { sourcesContent = [] } = JSON.parse(await readFile(join(folder, path), "utf8"));
      if (!sourcesContent[0]) problems.push(`${path} does not contain its source`);
    }
    if (!/\.(js|d\.ts)$/.test(path)) continue;
    const text = (await readFile(join(folder, path), "utf8")).replaceAll(comments, "");
    for (const [, from, dynamic] of text.matchAll(relativeImport)) {
      const target = posix.join(posix.dirname(path), from ?? dynamic ?? "");
      if (!paths.has(target)) problems.push(`${path} imports ${target}, which is not in the package`);
    }
  }
  return problems;
}
