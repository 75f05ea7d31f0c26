/** Finds programs that are already on this machine. */
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
 * Looks for the program in KUBEBUILDER_ASSETS, in PATH, and in the cache. In KUBEBUILDER_ASSETS any version counts, since the user
 * chose the folder, unless the caller requires one. In PATH only the desired version counts.
 */
export async function findInstalled(
  name: BinaryName,
  env: NodeJS.ProcessEnv,
  chosen: ChosenVersions = {},
): Promise<Binary | undefined> {
  const hasDesiredVersion = async (path: string) => (await versionProblem(name, path, chosen)) === undefined;
  const assets = env.KUBEBUILDER_ASSETS;
  if (assets && (await isExecutable(join(assets, name)))) {
    const path = join(assets, name);
    if (!(name in chosen) || (await hasDesiredVersion(path))) return { name, path, origin: "assets" };
  }
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (folder !== "" && (await isExecutable(path)) && (await hasDesiredVersion(path))) {
      return { name, path, origin: "path" };
    }
  }
  const path = join(cacheFolder(name, env, chosen), name);
  return (await isExecutable(path)) ? { name, path, origin: "cache" } : undefined;
}

/** The folder for everything that is downloaded or built once: `DENREI_CACHE_DIR`, or one in the user's cache directory. */
export const cacheRoot = (env: NodeJS.ProcessEnv): string =>
  env.DENREI_CACHE_DIR || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "denrei");

/** The cache folder for one version of a program on this machine. */
export function cacheFolder(name: BinaryName, env: NodeJS.ProcessEnv, chosen: ChosenVersions = {}): string {
  const { os, arch } = thisTarget();
  return join(cacheRoot(env), "bin", `${name}-${versionOf(name, chosen)}-${os}-${arch}`);
}

/** Arguments that print the version, for programs without `--version`. */
const versionArguments: Partial<Record<BinaryName, readonly string[]>> = {
  helm: ["version", "--template", "{{.Version}}"],
  kubectl: ["version", "--client"],
  skaffold: ["version"],
};

/** Why the file is not the desired version of the program; undefined when it is. */
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
    return `${path} is not version ${version}, but "${text.trim().split("\n")[0] ?? ""}"`;
  } catch (error) {
    return `${path} does not print its version: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Whether the file exists and is executable. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
