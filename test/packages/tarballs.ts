/** The packages of a release as tarballs, and projects that install them. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import dashboard from "../../dashboard/package.json" with { type: "json" };
import { withLock } from "../../deploy/local/binaries/lock.ts";
import { buildPackages, packPackages } from "../../deploy/packages/build.ts";

/** Names of packages, and their tarballs as dependencies. */
export type Tarballs = Readonly<Record<string, string>>;

/** Puts tarballs of all packages into a folder. They are packed once for all test files, whose processes share temporary files. */
export async function packedPackages(to: string): Promise<Tarballs> {
  const packed = join(tmpdir(), "denrei-tarballs");
  await withLock(`${packed}.lock`, {}, async () => {
    if (existsSync(packed)) return;
    const scratch = await mkdtemp(`${packed}-`);
    const built = await buildPackages(join(scratch, "packages"));
    const paths = await packPackages(built, join(scratch, "tarballs"));
    const names = built.map(({ name }, at) => [name, basename(paths[at] ?? "")]);
    await writeFile(join(scratch, "tarballs/names.json"), JSON.stringify(names));
    await rename(join(scratch, "tarballs"), packed);
    await rm(scratch, { recursive: true });
  });
  await cp(packed, to, { recursive: true });
  const names: [string, string][] = JSON.parse(await readFile(join(to, "names.json"), "utf8"));
  return Object.fromEntries(names.map(([name, file]) => [name, `file:${join(to, file)}`]));
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
