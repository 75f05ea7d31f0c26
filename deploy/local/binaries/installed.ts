/** Programs that are on this machine already. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { BinaryName, ChosenVersions } from "../versions.ts";
import { thisTarget } from "./catalogue.ts";
import { type Binary, versionOf } from "./request.ts";

/**
 * The program from KUBEBUILDER_ASSETS (any version, as the folder was chosen on purpose, unless a version was chosen
 * too), from PATH (the wanted version only), or from the cache.
 */
export async function findInstalled(
  name: BinaryName,
  env: NodeJS.ProcessEnv,
  chosen: ChosenVersions = {},
): Promise<Binary | undefined> {
  const isWanted = async (path: string) => (await versionProblem(name, path, chosen)) === undefined;
  const assets = env.KUBEBUILDER_ASSETS;
  if (assets && (await isExecutable(join(assets, name)))) {
    const path = join(assets, name);
    if (!(name in chosen) || (await isWanted(path))) return { name, path, origin: "assets" };
  }
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (folder !== "" && (await isExecutable(path)) && (await isWanted(path))) {
      return { name, path, origin: "path" };
    }
  }
  const path = join(cacheFolder(name, env, chosen), name);
  return (await isExecutable(path)) ? { name, path, origin: "cache" } : undefined;
}

/** The folder of everything that is got once: `DENREI_CACHE_DIR`, or one in the user's cache directory. */
export const cacheRoot = (env: NodeJS.ProcessEnv): string =>
  env.DENREI_CACHE_DIR || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "denrei");

/** The folder in the cache that holds one version of a program for this machine. */
export function cacheFolder(name: BinaryName, env: NodeJS.ProcessEnv, chosen: ChosenVersions = {}): string {
  const { os, arch } = thisTarget();
  return join(cacheRoot(env), "bin", `${name}-${versionOf(name, chosen)}-${os}-${arch}`);
}

/** How a program is asked for its version, where it has no `--version`. */
const versionArguments: Partial<Record<BinaryName, readonly string[]>> = {
  helm: ["version", "--template", "{{.Version}}"],
  kubectl: ["version", "--client"],
  skaffold: ["version"],
};

/** Why this file is not the wanted version of the program; undefined when it is. */
export async function versionProblem(
  name: BinaryName,
  path: string,
  chosen: ChosenVersions = {},
): Promise<string | undefined> {
  const version = versionOf(name, chosen);
  const args = versionArguments[name] ?? ["--version"];
  try {
    const { stdout, stderr } = await promisify(execFile)(path, args, { timeout: 30_000 });
    const text = `${stdout}${stderr}`;
    if (new RegExp(`(^|[\\sv])${version.replaceAll(".", "\\.")}(\\s|$)`).test(text)) return undefined;
    return `expected ${path} to be version ${version}, but it says "${text.trim().split("\n")[0] ?? ""}"`;
  } catch (error) {
    return `expected ${path} to tell its version, but ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Is there a file that may be run? */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
