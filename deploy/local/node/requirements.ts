/** Requirements of a machine for real pods. */
import { readFileSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** A cgroup hierarchy: version 2 has all controllers in one, version 1 has several with some controllers each. */
export interface Hierarchy {
  readonly path: string;
  readonly version: 1 | 2;
}

/** The hierarchies mounted at their standard paths: proc(5), `/proc/self/mounts`. */
export function cgroupHierarchies(): Hierarchy[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts.flatMap((line) => {
    const [, path = "", type] = line.split(" ");
    const version = type === "cgroup2" ? 2 : 1;
    const isHierarchy = type === "cgroup" ? path.startsWith("/sys/fs/cgroup/") : path === "/sys/fs/cgroup";
    return isHierarchy && type?.startsWith("cgroup") ? [{ path, version }] : [];
  });
}

/** Programs that every distribution has, with their Debian package. */
const programs = {
  setpriv: "util-linux",
  unshare: "util-linux",
  mount: "mount",
  hostname: "hostname",
  ip: "iproute2",
  go: "golang-go",
} as const;

/** Everything that prevents this machine from running real pods, with instructions. */
export async function missingRequirements(env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  if (process.platform !== "linux") return [`${process.platform} is not Linux: use kind (deploy/kind.yaml)`];
  const found: string[] = [];
  if (process.getuid?.() !== 0)
    found.push(`uid ${process.getuid?.()} is not root, which containers need: use sudo`);
  const fileSystems = readFileSync("/proc/filesystems", "utf8");
  if (!/\boverlay\b/.test(fileSystems))
    found.push("the kernel has no overlay file system (/proc/filesystems): run modprobe overlay");
  if (cgroupHierarchies().length === 0)
    found.push("no cgroups under /sys/fs/cgroup: mount them, or use another machine");
  for (const [name, debianPackage] of Object.entries(programs)) {
    if (!(await isOnPath(name, env))) found.push(`${name} is not in PATH: install ${debianPackage}`);
  }
  return found;
}

async function isOnPath(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const folder of (env.PATH ?? "").split(delimiter).filter((part) => part !== "")) {
    try {
      await access(join(folder, name), constants.X_OK);
      return true;
    } catch {
      // Try the next folder.
    }
  }
  return false;
}
