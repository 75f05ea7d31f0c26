/**
 * Renders a kustomization with this machine's kubectl or kustomize, or else with the pinned kustomize, which is
 * downloaded or built once.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import { parseAllDocuments } from "yaml";
import { releaseHosts, thisTarget } from "../local/binaries/catalogue.ts";
import { ChecksumMismatchError, download } from "../local/binaries/download.ts";
import { goBuild, toolsDirectory } from "../local/binaries/gobuild.ts";
import { cacheFolder, isExecutable } from "../local/binaries/installed.ts";
import { withLock } from "../local/binaries/lock.ts";
import { makeFolder } from "../local/makefolder.ts";

const run = promisify(execFile);
const goPackage = { module: "kustomize", path: "sigs.k8s.io/kustomize/kustomize/v5", ldflags: "-s -w" };

/** The objects that a kustomization renders to. */
export async function render<T>(directory: string): Promise<T[]> {
  const text =
    (await output("kubectl", ["kustomize", directory])) ??
    (await output("kustomize", ["build", directory])) ??
    (await output(await pinnedKustomize(), ["build", directory]));
  return parseAllDocuments(text ?? "").map((document) => document.toJS() as T);
}

/** Returns what a program prints, or undefined when the program is not installed. */
async function output(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await run(command, args, { maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The path of the kustomize that `deploy/local/tools/kustomize` pins. */
export async function pinnedKustomize(): Promise<string> {
  const version = await pinnedVersion();
  const { os, arch } = thisTarget();
  const folder = join(dirname(cacheFolder("etcd", process.env)), `kustomize-${version}-${os}-${arch}`);
  const path = join(folder, "kustomize");
  await makeFolder(folder);
  return withLock(join(folder, "lock"), {}, async () => {
    if (await isExecutable(path)) return path;
    const scratch = join(folder, "scratch");
    await mkdir(scratch, { recursive: true });
    try {
      const binary = join(scratch, "kustomize");
      await fetchRelease(version, scratch).catch(async (downloadError: Error) => {
        if (downloadError instanceof ChecksumMismatchError) throw downloadError;
        await goBuild(goPackage, { output: binary, env: process.env, onElapsed: () => undefined }).catch(
          (error: Error) => {
            throw new Error(
              `kubectl and kustomize are not in PATH, and kustomize ${version} can neither be downloaded ` +
                `(${downloadError.message}) nor built (${error.message}). Install kubectl.`,
            );
          },
        );
      });
      await chmod(binary, 0o755);
      await rename(binary, path);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    return path;
  });
}

async function pinnedVersion(): Promise<string> {
  const text = await readFile(join(toolsDirectory, goPackage.module, "go.mod"), "utf8");
  const version = /^\s*sigs\.k8s\.io\/kustomize\/kustomize\/v5 v(\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error(`expected ${goPackage.path} in ${goPackage.module}/go.mod`);
  return version;
}

async function fetchRelease(version: string, scratch: string): Promise<void> {
  const { os, arch } = thisTarget();
  const { github } = releaseHosts(process.env);
  const base = `${github}/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv${version}`;
  const archive = join(scratch, "archive");
  await download(
    {
      url: `${base}/kustomize_v${version}_${os}_${arch}.tar.gz`,
      checksumUrl: `${base}/checksums.txt`,
      path: archive,
      onBytes: () => undefined,
    },
    { timeouts: { connectMillis: 5000, stallMillis: 15_000 } },
  );
  await extract({ file: archive, cwd: scratch, filter: (path) => path === "kustomize", strict: true });
}
