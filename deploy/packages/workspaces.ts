/** The npm workspaces of the repository, and their public entry points. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PackageManifest } from "./manifest.ts";

/** The repository's root. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A workspace: a folder with a `package.json`, relative to the root. */
export interface Workspace {
  readonly folder: string;
  readonly manifest: PackageManifest;
}

/** A module that a package exports by name. */
export interface EntryPoint {
  /** As in an import: `denrei/kinds`. */
  readonly specifier: string;
  /** For file names: `denrei-kinds`. */
  readonly slug: string;
  readonly workspace: Workspace;
  /** The module relative to the workspace, without its extension: `entrypoints/kinds`. */
  readonly module: string;
}

/** Reads a `package.json`. The folder is relative to the root. */
export async function manifestOf(folder: string): Promise<PackageManifest> {
  return JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
}

/** All workspaces, in the order of the root's `package.json`. */
export async function workspaces(): Promise<readonly Workspace[]> {
  const { workspaces: folders = [] } = await manifestOf("");
  return Promise.all(folders.map(async (folder) => ({ folder, manifest: await manifestOf(folder) })));
}

/** The entry points of a package. Modules behind a pattern (`./*`) are not public: only packages of the same version import them. */
export const entryPointsOf = (workspace: Workspace): readonly EntryPoint[] =>
  Object.entries(workspace.manifest.exports ?? {})
    .filter(([name, path]) => path.endsWith(".ts") && !name.includes("*"))
    .map(([name, path]) => {
      const specifier = `${workspace.manifest.name}${name.slice(1)}`;
      const slug = specifier.replace("@", "").replaceAll("/", "-");
      return { specifier, slug, workspace, module: path.slice("./".length, -".ts".length) };
    });
