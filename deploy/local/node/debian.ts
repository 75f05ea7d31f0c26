/**
 * The container runtime: containerd, runc, the CNI plugins, and nft, from Debian packages that are unpacked into the cache.
 * Nothing is installed on the machine, and no service is started.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheRoot } from "../binaries/installed.ts";
import { makeFolder } from "../makefolder.ts";

const run = promisify(execFile);

/** The requested packages, without their dependencies. */
const packages = ["containerd", "runc", "containernetworking-plugins", "nftables", "conntrack", "iptables"];

/** Paths of the programs. */
export interface ContainerPrograms {
  readonly containerd: string;
  readonly ctr: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
  /** PATH and LD_LIBRARY_PATH for everything that runs one of them. */
  readonly env: Readonly<Record<string, string>>;
}

/** Finds the packages in the cache or downloads them. Throws with instructions when there is no `apt-get`. */
export async function containerPrograms(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<ContainerPrograms> {
  const folder = join(cacheRoot(env), "containers");
  if (!(await exists(folder))) {
    log(`getting ${packages.join(", ")} from Debian's packages (once)`);
    await unpackInto(folder);
  }
  const library = ["lib", "usr/lib"].flatMap((path) => [path, join(path, multiarch())]);
  const programs = ["usr/bin", "usr/sbin", "bin", "sbin"];
  const under = (paths: readonly string[]) => paths.map((path) => join(folder, path)).join(":");
  return {
    containerd: join(folder, "usr/bin/containerd"),
    ctr: join(folder, "usr/bin/ctr"),
    cni: join(folder, "usr/lib/cni"),
    env: {
      PATH: `${under(programs)}:${env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin"}`,
      LD_LIBRARY_PATH: under(library),
    },
  };
}

const multiarch = (): string => (process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu");

const exists = async (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );

async function unpackInto(folder: string): Promise<void> {
  await makeFolder(dirname(folder));
  const scratch = await mkdtemp(`${folder}-`);
  try {
    const archives = join(scratch, "archives");
    const root = join(scratch, "root");
    await mkdir(join(archives, "partial"), { recursive: true });
    await mkdir(root);
    await download(archives);
    const files = (await readdir(archives)).filter((name) => name.endsWith(".deb"));
    for (const file of files) await run("dpkg", ["--extract", join(archives, file), root]);
    // Atomic: other processes never see a partial folder.
    await rename(root, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Downloads the packages with all dependencies that the machine lacks. */
async function download(archives: string): Promise<void> {
  const get = () =>
    run("apt-get", [
      "install",
      "--download-only",
      "--reinstall",
      "--yes",
      "--no-install-recommends",
      "--option",
      `Dir::Cache::archives=${archives}`,
      ...packages,
    ]);
  try {
    // A new machine has no package lists, or outdated ones.
    await get().catch(async () => {
      await run("apt-get", ["update"]);
      await get();
    });
  } catch (error) {
    throw new Error(
      `apt-get cannot download ${packages.join(", ")}: ${(error as Error).message.trim()}. Real pods need Debian or Ubuntu; elsewhere use kind (deploy/kind.yaml).`,
      { cause: error },
    );
  }
}
