/** cgroups of the node's pods, below one cgroup per process, so that all of them can be removed. */
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identify } from "../run/identity.ts";
import { cgroupHierarchies, type Hierarchy } from "./requirements.ts";

const prefix = "denrei-node";

/** The parent cgroup of pods. */
export interface NodeCgroups {
  /** In kubelet's notation: from the root of the hierarchy, with a leading slash. */
  readonly root: string;
  /** Removes the cgroups. All processes in them must have ended. */
  remove(): Promise<void>;
}

/** Creates a cgroup named after this process, and removes those of killed processes. */
export async function prepareCgroups(): Promise<NodeCgroups> {
  const hierarchies = cgroupHierarchies();
  for (const { path } of hierarchies) await sweep(path);
  const name = `${prefix}-${process.pid}-${identify(process.pid)?.started}`;
  for (const hierarchy of hierarchies) await create(hierarchy, name);
  return {
    root: `/${name}`,
    async remove() {
      for (const { path } of hierarchies) await removeTree(join(path, name));
    },
  };
}

async function create({ path: hierarchy, version }: Hierarchy, name: string): Promise<void> {
  const path = join(hierarchy, name);
  await mkdir(path, { recursive: true });
  if (version === 2) {
    const available = (await readFile(join(hierarchy, "cgroup.controllers"), "utf8")).trim().split(" ");
    const enabled = available.map((controller) => `+${controller}`).join(" ");
    for (const folder of [hierarchy, path]) await writeFile(join(folder, "cgroup.subtree_control"), enabled);
  } else if (hierarchy.split("/").at(-1)?.split(",").includes("cpuset")) {
    // A new cpuset is empty and can run nothing.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      await writeFile(join(path, file), await readFile(join(hierarchy, file), "utf8"));
  }
}

/** Removes cgroups of processes that no longer run. */
async function sweep(hierarchy: string): Promise<void> {
  for (const entry of await readdir(hierarchy)) {
    const [, pid, started] = new RegExp(`^${prefix}-(\\d+)-(\\d+)$`).exec(entry) ?? [];
    if (pid !== undefined && identify(Number(pid))?.started !== started)
      await removeTree(join(hierarchy, entry));
  }
}

/** Removes child cgroups first. The entries that look like files cannot and need not be deleted. */
async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
