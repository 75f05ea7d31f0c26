/** Bundles a project: its functions, the processes of Denrei, and all packages that they use, for a folder without `node_modules`. */
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type Project, UsageError } from "denrei/runtime";
import { type RolldownLog, rolldown } from "rolldown";
import { programOf } from "./entries.ts";
import { type Copied, copyPath, referredFiles } from "./files.ts";
import { copyPackages, importedPackages, modulesFolder, type Wanted } from "./packages.ts";

/** What to bundle. */
export interface BundleOptions {
  readonly project: Pick<Project, "name" | "folder" | "file">;
  /** The folder of the bundle. */
  readonly out: string;
  /** Names of packages that cannot be bundled, such as those with native modules. They are copied with what they depend on. */
  readonly external: readonly string[];
}

/**
 * Writes a bundle: `denrei.js` (the command line), `denrei.config.js`, `compile.js` (fills Node's compile cache), and the modules
 * that they share. Replaces an earlier bundle. Throws an error for an import that cannot be resolved.
 */
export async function bundleProject({ project, out, external }: BundleOptions): Promise<void> {
  await emptyFolder(project.folder, out);
  const { launcher, entries } = programOf(project.folder, project.file);
  const copies = new Map<string, Copied>();
  const missing: string[] = [];
  const build = await rolldown({
    cwd: project.folder,
    platform: "node",
    input: Object.fromEntries(Object.keys(entries).map((name) => [name, `denrei:${name}`])),
    external: external.map((name) => new RegExp(`^${RegExp.escape(name)}(/|$)`)),
    preserveEntrySignatures: "allow-extension",
    plugins: [
      {
        name: "denrei:entries",
        resolveId: { filter: { id: /^denrei:/ }, handler: (id) => id },
        load: { filter: { id: /^denrei:/ }, handler: (id) => entries[id.slice("denrei:".length)] ?? null },
      },
      referredFiles({ launcher, root: project.folder, onCopy: (one) => copies.set(one.to, one) }),
    ],
    onLog: (level, log) => {
      if (log.code === "UNRESOLVED_IMPORT") missing.push(log.message);
      else if (level === "warn" && !isExpected(log)) console.error(`denrei: ${log.message}`);
    },
  });
  await build.write({
    dir: out,
    format: "esm",
    comments: false,
    sourcemap: true,
    // Flat: a file has the same path from every module.
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await build.close();
  if (missing.length > 0) console.error(missing.join("\n"));
  const wanted: Wanted[] = external.map((name) => ({ name, from: project.folder }));
  for (const one of copies.values()) {
    await cp(one.from, copyPath(out, one), { recursive: true, filter: (path) => !isForDevelopment(path) });
    if (!one.isProgram) continue;
    for (const name of await importedPackages(one.from)) wanted.push({ name, from: one.from });
  }
  await copyPackages(wanted, modulesFolder(out));
  const manifest = { name: project.name, private: true, type: "module" };
  await writeFile(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

const isForDevelopment = (path: string): boolean => /\.(test|d)\.ts$|\.map$/.test(basename(path));

const isExpected = ({ code = "" }: RolldownLog): boolean => code === "EVAL";

/** Creates the folder, or removes an earlier bundle from it. Throws a {@link UsageError} for a folder with other files. */
async function emptyFolder(project: string, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const found = await readdir(out);
  if (found.length === 0) return;
  if (resolve(out) === resolve(project) || !["denrei.js", "denrei.config.js"].every((name) => found.includes(name)))
    throw new UsageError(`the folder ${out} has other files: choose another one with --out, or empty it`);
  for (const name of found) await rm(join(out, name), { recursive: true, force: true });
}
