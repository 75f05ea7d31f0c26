/**
 * Obtains the programs of the local platform: from this machine, or else from the official release, or else by building
 * from source.
 */
import { constants } from "node:fs";
import { access, chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedError } from "denrei/runtime";
import { makeFolder } from "../makefolder.ts";
import { identify } from "../run/identity.ts";
import { type BinaryName, versions } from "../versions.ts";
import { catalogue } from "./catalogue.ts";
import { ChecksumMismatchError } from "./download.ts";
import { goBuild } from "./gobuild.ts";
import { cacheFolder, findInstalled, versionProblem } from "./installed.ts";
import { withLock } from "./lock.ts";
import { fromRelease } from "./release.ts";
import { type Binary, newRequest, type ObtainOptions, type Request, versionOf } from "./request.ts";

/** No source has the program. The message lists the sources, why each failed, and what to do. */
export class BinaryUnavailableError extends ExpectedError {
  override readonly name = "BinaryUnavailableError";
}

/**
 * Obtains the programs one after the other, because downloads share the line and builds share the processors. Throws
 * {@link BinaryUnavailableError}, or {@link ChecksumMismatchError} when a release differs from what its publisher states.
 */
export async function obtainBinaries<Name extends BinaryName>(
  names: readonly Name[],
  options: ObtainOptions = {},
): Promise<Record<Name, Binary>> {
  const request = newRequest(options);
  const entries: [Name, Binary][] = [];
  for (const name of names) entries.push([name, await obtain(name, request)]);
  return Object.fromEntries(entries) as Record<Name, Binary>;
}

async function obtain(name: BinaryName, request: Request): Promise<Binary> {
  request.signal?.throwIfAborted();
  const binary = (await findInstalled(name, request.env, request.chosen)) ?? (await install(name, request));
  request.onProgress({ binary: name, phase: "found", detail: `${binary.origin}: ${binary.path}` });
  return binary;
}

async function install(name: BinaryName, request: Request): Promise<Binary> {
  const folder = cacheFolder(name, request.env, request.chosen);
  const lock = join(folder, "lock");
  await prepareFolder(folder, name);
  const onWait = (pid: number | undefined) =>
    request.onProgress({
      binary: name,
      phase: "waiting",
      detail: `process ${pid ?? "(unknown)"} is getting it; if that process does not exist, remove ${lock}`,
    });
  try {
    return await withLock(lock, { signal: request.signal, onWait }, async () => {
      const already = await findInstalled(name, request.env, request.chosen);
      return already ?? (await fromFirstSource(name, folder, request));
    });
  } catch (error) {
    throw isStorageError(error) ? unwritable(name, folder, error) : error;
  }
}

async function prepareFolder(folder: string, name: BinaryName): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw unwritable(name, folder, error as Error);
  }
}

const unwritable = (name: BinaryName, folder: string, error: Error): BinaryUnavailableError =>
  new BinaryUnavailableError(
    `${name} is not on this machine, and the cache folder ${folder} cannot be written (${error.message}). ` +
      "Make it writable, or set DENREI_CACHE_DIR to another folder.",
    { cause: error },
  );

/** A full or read-only disk, on which no other source succeeds either. */
const isStorageError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  ["EDQUOT", "ENOSPC", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");

interface Source {
  readonly origin: Binary["origin"];
  readonly title: string;
  /** Obtains the program in a scratch folder and returns its path there. */
  readonly make: (name: BinaryName, scratch: string, request: Request) => Promise<string>;
}

const sources: readonly Source[] = [
  { origin: "download", title: "official release", make: fromRelease },
  { origin: "build", title: "go build", make: fromGo },
];

async function fromFirstSource(name: BinaryName, folder: string, request: Request): Promise<Binary> {
  await removeScratch(folder);
  const failures: string[] = [];
  for (const { origin, title, make } of sources) {
    const scratch = join(folder, `scratch-${process.pid}-${origin}`);
    await mkdir(scratch);
    try {
      const built = await make(name, scratch, request);
      await chmod(built, 0o755);
      request.onProgress({ binary: name, phase: "verifying", detail: `${name} --version` });
      const problem = await versionProblem(name, built, request.chosen);
      if (problem) throw new Error(problem);
      const path = join(folder, name);
      // Atomic: other processes never see a partial program, and a concurrent install replaces it with the same one.
      await rename(built, path);
      return { name, path, origin };
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof ChecksumMismatchError || isStorageError(error)) throw error;
      const failure = `${title}: ${error instanceof Error ? error.message : String(error)}`;
      failures.push(failure);
      request.onProgress({ binary: name, phase: "unavailable", detail: failure });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  throw unavailable(name, folder, request, failures);
}

/** Removes scratch folders of killed processes. */
async function removeScratch(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const pid = /^scratch-(\d+)-/.exec(entry)?.[1];
    if (pid === undefined || identify(Number(pid))) continue;
    await rm(join(folder, entry), { recursive: true, force: true });
  }
}

async function fromGo(name: BinaryName, scratch: string, request: Request): Promise<string> {
  const { goPackage } = catalogue[name];
  const output = join(scratch, name);
  const version = versionOf(name, request.chosen);
  await goBuild(goPackage, {
    output,
    install: version === versions[name] ? undefined : version,
    env: request.env,
    signal: request.signal,
    onElapsed: (elapsedSeconds) =>
      request.onProgress({ binary: name, phase: "building", detail: goPackage.path, elapsedSeconds }),
  });
  return output;
}

function unavailable(
  name: BinaryName,
  folder: string,
  { env, chosen }: Request,
  failures: readonly string[],
): BinaryUnavailableError {
  const assets = env.KUBEBUILDER_ASSETS;
  const version = versionOf(name, chosen);
  const tried = [
    `KUBEBUILDER_ASSETS: ${assets ? `no ${name} in ${assets}${name in chosen ? ` of version ${version}` : ""}` : "not set"}`,
    `PATH: no ${name} of version ${version}`,
    `cache: nothing in ${folder}`,
    ...failures,
  ];
  return new BinaryUnavailableError(
    `no source has ${name} ${version}:\n` +
      `${tried.map((line) => `  - ${line}`).join("\n")}\n` +
      "Allow access to the release hosts, install Go (https://go.dev/dl), or put the program into a folder and " +
      "point KUBEBUILDER_ASSETS to that folder.",
  );
}
