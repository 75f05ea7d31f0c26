/** The packages of a release as tarballs, and projects that install them. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import dashboard from "../../dashboard/package.json" with { type: "json" };
import { withLock } from "../../deploy/local/binaries/lock.ts";
import { buildPackages, packPackages } from "../../deploy/packages/build.ts";

/** Names of packages, and their tarballs as dependencies. */
export type Tarballs = Readonly<Record<string, string>>;

/** The folder of the tarballs. */
export const tarballsFolder = (): string => join(tmpdir(), "denrei-tarballs");

/** Packs all packages, once for all test files: their processes share the folder of temporary files. */
export async function packedPackages(): Promise<Tarballs> {
  const folder = tarballsFolder();
  await withLock(`${folder}.lock`, {}, async () => {
    if (existsSync(folder)) return;
    const scratch = await mkdtemp(`${folder}-`);
    const built = await buildPackages(join(scratch, "packages"));
    const paths = await packPackages(built, scratch);
    const files = Object.fromEntries(
      built.map(({ name }, at) => [name, `file:${paths[at]?.replace(scratch, folder)}`]),
    );
    await writeFile(join(scratch, "tarballs.json"), JSON.stringify(files));
    await rename(scratch, folder);
  });
  return JSON.parse(await readFile(join(folder, "tarballs.json"), "utf8"));
}

/** The parts of `package.json` that decide what is installed. */
export interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

/** Installs a project with the tarballs instead of published packages. */
export async function install(project: string, manifest: Manifest, tarballs: Tarballs): Promise<void> {
  for (const listed of [manifest.dependencies, manifest.devDependencies])
    for (const name of Object.keys(listed ?? {}))
      if (listed && tarballs[name] !== undefined) listed[name] = tarballs[name];
  const own = { ...manifest.dependencies, ...manifest.devDependencies };
  const ours = Object.entries(tarballs).map(([name, path]) => [name, name in own ? `$${name}` : path]);
  // The tested version: `npm ci` fails for one whose optional packages the registry lacks.
  manifest.overrides = { ...Object.fromEntries(ours), vite: dashboard.devDependencies.vite };
  await writeFile(join(project, "package.json"), JSON.stringify(manifest));
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: project,
  });
}

/** Every installed package, by the path of its manifest below `node_modules`. */
export const installedPackages = (project: string): string[] =>
  readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" }).filter(
    (path) => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(path) && !path.startsWith(".bin/"),
  );

/** Runs the command line that a project has installed. */
export const programIn = (project: string): [string, string] => [
  process.execPath,
  join(project, "node_modules/denrei/command/denrei.js"),
];
