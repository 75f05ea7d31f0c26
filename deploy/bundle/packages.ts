/** Packages that a bundle needs beside it: those that programs of its functions import at run time, and what a project lists. */
import { existsSync } from "node:fs";
import { cp, glob, readFile, realpath } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { ExpectedError } from "denrei/runtime";

/** Imports of packages in the modules of a program. */
const imported = /(?:\bfrom\s*|\bimport\s*|\bimport\.meta\.resolve\(\s*|\bimport\(\s*)"([^"./$][^"$]*)"/g;
const typeOnly = /^\s*(?:import|export) type [^;]*;/gm;
const comments = /^[ \t]*(?:\/\/|\/?\*).*$/gm;

/** Names of packages that the modules in a folder import. */
export async function importedPackages(folder: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const path of glob("**/*.{js,ts}", { cwd: folder })) {
    if (/\.(test|d)\.ts$/.test(path)) continue;
    const text = (await readFile(join(folder, path), "utf8"))
      .replaceAll(comments, "")
      .replaceAll(typeOnly, "");
    for (const [, specifier = ""] of text.matchAll(imported))
      if (!isBuiltin(specifier)) found.add(packageName(specifier));
  }
  return [...found].sort();
}

const packageName = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** A package to copy, and the folder from which it is imported. */
export interface Wanted {
  readonly name: string;
  readonly from: string;
}

/**
 * Copies installed packages and all that they depend on into a `node_modules` folder. Throws an error for a package that is not
 * installed, and for two versions of one package.
 */
export async function copyPackages(wanted: readonly Wanted[], target: string): Promise<void> {
  const copied = new Map<string, string>();
  const visit = async ({ name, from }: Wanted, isOptional: boolean): Promise<void> => {
    const folder = await packageFolder(name, from);
    if (folder === undefined) {
      if (isOptional) return;
      throw new Error(
        `the package ${name}, which ${from} needs at run time, is not installed: npm install ${name}`,
      );
    }
    const before = copied.get(name);
    if (before !== undefined && before !== folder)
      throw new ExpectedError(
        `the bundle needs two versions of the package ${name}: ${before} and ${folder}. Install one that suits both.`,
      );
    if (before !== undefined) return;
    copied.set(name, folder);
    await cp(folder, join(target, name), { recursive: true, dereference: true, filter: isNeeded });
    const manifest: Manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
    for (const one of Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }))
      if (!existsSync(join(folder, "node_modules", one)))
        await visit({ name: one, from: folder }, one in optionalDependencies || one in peerDependencies);
  };
  for (const one of wanted) await visit(one, false);
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Not what only compilers and debuggers read. */
const isNeeded = (path: string): boolean => !/\.(map|[cm]?ts)$|^\.jsii$/.test(basename(path));

/** The folder of an installed package, found as Node finds it; undefined if it is not installed. */
async function packageFolder(name: string, from: string): Promise<string | undefined> {
  for (const modules of createRequire(join(from, "package.json")).resolve.paths(name) ?? []) {
    const folder = join(modules, name);
    if (existsSync(join(folder, "package.json"))) return realpath(folder);
  }
  return undefined;
}
