/** The cgroups of the node's pods: below one that is its own, so that nothing of it is left behind. */
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identify } from "../run/identity.ts";
import { cgroupHierarchies, type Hierarchy } from "./machine.ts";

const prefix = "denrei-node";

/** Where kubelet puts its pods. */
export interface NodeCgroups {
  /** As kubelet wants it: from the root of the hierarchy, with a slash. */
  readonly root: string;
  /** Removes them; everything in them has ended. */
  remove(): Promise<void>;
}

/** Makes a cgroup that is named after this process, and clears away those of processes that were killed. */
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
    const all = (await readFile(join(hierarchy, "cgroup.controllers"), "utf8")).trim().split(" ");
    const wanted = all.map((controller) => `+${controller}`).join(" ");
    for (const folder of [hierarchy, path]) await writeFile(join(folder, "cgroup.subtree_control"), wanted);
  } else if (hierarchy.split("/").at(-1)?.split(",").includes("cpuset")) {
    // A new set is empty, and nothing runs in an empty one.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      await writeFile(join(path, file), await readFile(join(hierarchy, file), "utf8"));
  }
}

/** Those whose process is gone. */
async function sweep(hierarchy: string): Promise<void> {
  for (const entry of await readdir(hierarchy)) {
    const [, pid, started] = new RegExp(`^${prefix}-(\\d+)-(\\d+)$`).exec(entry) ?? [];
    if (pid !== undefined && identify(Number(pid))?.started !== started)
      await removeTree(join(hierarchy, entry));
  }
}

/** Cgroups can not be removed like folders: what looks like files in them is none. */
async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
