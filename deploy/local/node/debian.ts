/**
 * What runs containers: containerd, runc, the CNI plugins and nft. They come as packages of Debian, unpacked into the cache: nothing
 * is installed, no service is started, and nothing that the machine has is changed.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheRoot } from "../binaries/installed.ts";

const run = promisify(execFile);

/** What is asked for; what they need comes along. */
const packages = ["containerd", "runc", "containernetworking-plugins", "nftables", "conntrack", "iptables"];

/** Where the programs are. */
export interface ContainerPrograms {
  readonly containerd: string;
  readonly ctr: string;
  /** The folder of the CNI plugins. */
  readonly cni: string;
  /** PATH and LD_LIBRARY_PATH of everything that runs one of them. */
  readonly env: Readonly<Record<string, string>>;
}

/** Gets the packages, or finds them in the cache. Throws what to do where there is no `apt-get`. */
export async function containerPrograms(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<ContainerPrograms> {
  const folder = join(cacheRoot(env), "containers");
  if (!(await isThere(folder))) {
    say(`getting ${packages.join(", ")} from Debian's packages (once)`);
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

const isThere = async (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );

async function unpackInto(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const scratch = await mkdtemp(`${folder}-`);
  try {
    const archives = join(scratch, "archives");
    const root = join(scratch, "root");
    await mkdir(join(archives, "partial"), { recursive: true });
    await mkdir(root);
    await download(archives);
    const files = (await readdir(archives)).filter((name) => name.endsWith(".deb"));
    for (const file of files) await run("dpkg", ["--extract", join(archives, file), root]);
    // In one step: nobody ever sees half of it.
    await rename(root, folder).catch((error: NodeJS.ErrnoException) => {
      // Somebody else was quicker.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** With everything that they need and the machine has not. */
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
    // A machine that was just made has no lists, or old ones.
    await get().catch(async () => {
      await run("apt-get", ["update"]);
      await get();
    });
  } catch (error) {
    throw new Error(
      `expected apt-get to download ${packages.join(", ")}, but: ${(error as Error).message.trim()}. Real pods need a Debian or Ubuntu, or use kind (deploy/kind.yaml).`,
      { cause: error },
    );
  }
}
