/** Bundles a project: its functions, the processes of Denrei, and all packages that they use, for a folder without `node_modules`. */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { ExpectedError, type Project, UsageError } from "denrei/runtime";
import { rolldown } from "rolldown";
import { partsOfBuiltins } from "./builtins.ts";
import { programOf } from "./entries.ts";
import { type Copied, referredFiles } from "./files.ts";
import { expectAll, type MissingImport, missingImports } from "./missing.ts";
import { copyPackages, importedPackages, type Wanted } from "./packages.ts";
import { partsOfUndici } from "./undici.ts";

/** What to bundle. */
export interface BundleOptions {
  readonly project: Pick<Project, "name" | "folder" | "file">;
  /** The folder of the bundle. */
  readonly out: string;
  /** Names of packages that cannot be bundled, such as those with native modules. They are copied with what they depend on. */
  readonly external: readonly string[];
  /** Receives a sentence about code that may not work in a bundle. */
  onWarning(text: string): void;
}

/**
 * Writes a bundle: `denrei.js` (the command line), `denrei.config.js`, `compile.js` (fills Node's compile cache), the modules that
 * they share, and what bridge and gateway need to know about the functions. Replaces an earlier bundle. Throws an `ExpectedError` for
 * a module that cannot be bundled or found, and for a function that does not load.
 */
export async function bundleProject({ project, out, external, onWarning }: BundleOptions): Promise<void> {
  await emptyFolder(project.folder, out);
  const { launcher, entries } = programOf(project.folder, project.file);
  const copies = new Map<string, Copied>();
  const missing: MissingImport[] = [];
  const build = await rolldown({
    cwd: project.folder,
    platform: "node",
    input: Object.fromEntries(Object.keys(entries).map((name) => [name, `denrei:${name}`])),
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    preserveEntrySignatures: "allow-extension",
    plugins: [
      {
        name: "denrei:entries",
        resolveId: { filter: { id: /^denrei:[\w.]+$/ }, handler: (id) => id },
        load: {
          filter: { id: /^denrei:[\w.]+$/ },
          handler: (id) => entries[id.slice("denrei:".length)] ?? null,
        },
      },
      partsOfUndici,
      partsOfBuiltins,
      referredFiles({
        launcher,
        root: project.folder,
        onCopy: (one) => copies.set(one.to, one),
        onWarning,
      }),
    ],
    // Packages use `eval` and other things that a bundler warns about, and that work.
    onLog: (_level, log) => void missing.push(...missingImports(log)),
  });
  try {
    await build.write({
      dir: out,
      format: "esm",
      charset: "ascii",
      comments: false,
      // For `node --enable-source-maps`, which costs 27 MB: without it, stack traces have the names of functions, and of modules.
      sourcemap: true,
      sourcemapExcludeSources: true,
      // Flat: a file has the same path from every module.
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
    });
  } catch (error) {
    throw new ExpectedError(
      `cannot bundle ${project.file}: ${stripVTControlCharacters((error as Error).message)}`,
    );
  } finally {
    await build.close();
  }
  expectAll(missing);
  await copyFiles([...copies.values()], { out, from: project.folder, external });
  const manifest = { name: project.name, private: true, type: "module" };
  await writeFile(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await recordNeeds(project.file, join(out, "needs.js"));
}

/** Runs the entry point that records what bridge and gateway need, and removes it. */
async function recordNeeds(file: string, program: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [program]);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    throw new ExpectedError(
      `expected the functions of ${file} to load, because a bundle records what they declare, but they do not: ` +
        (stderr?.trim().replace(/^denrei: /, "") || (error as Error).message),
    );
  }
  await rm(program);
  await rm(`${program}.map`, { force: true });
}

/** Copies what modules open and run, and the packages that these programs and the project import at run time. */
async function copyFiles(
  copies: readonly Copied[],
  {
    out,
    from,
    external,
  }: { readonly out: string; readonly from: string; readonly external: readonly string[] },
): Promise<void> {
  const wanted: Wanted[] = external.map((name) => ({ name, from }));
  for (const one of copies) {
    await cp(one.from, join(out, one.to), { recursive: true, filter: (path) => !isForDevelopment(path) });
    if (!one.isProgram) continue;
    for (const name of await importedPackages(one.from)) wanted.push({ name, from: one.from });
  }
  await copyPackages(wanted, join(out, "node_modules"));
}

const isForDevelopment = (path: string): boolean => /\.(test|d)\.ts$|\.map$/.test(basename(path));

/** Creates the folder, or removes an earlier bundle from it. Throws a {@link UsageError} for a folder with other files. */
async function emptyFolder(project: string, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const found = await readdir(out);
  if (found.length === 0) return;
  if (
    resolve(out) === resolve(project) ||
    !["denrei.js", "denrei.config.js"].every((name) => found.includes(name))
  )
    throw new UsageError(`the folder ${out} has other files: choose another one with --out, or empty it`);
  for (const name of found) await rm(join(out, name), { recursive: true, force: true });
}
