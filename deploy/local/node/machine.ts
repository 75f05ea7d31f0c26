/** What a machine has to have for real pods. */
import { readFileSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** A hierarchy of cgroups: all controllers in one (version 2), or some of them in each (version 1). */
export interface Hierarchy {
  readonly path: string;
  readonly version: 1 | 2;
}

/** The hierarchies that are mounted where programs look for them: proc(5), `/proc/self/mounts`. */
export function cgroupHierarchies(): Hierarchy[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts.flatMap((line) => {
    const [, path = "", type] = line.split(" ");
    const version = type === "cgroup2" ? 2 : 1;
    const isOne = type === "cgroup" ? path.startsWith("/sys/fs/cgroup/") : path === "/sys/fs/cgroup";
    return isOne && type?.startsWith("cgroup") ? [{ path, version }] : [];
  });
}

/** Programs that every distribution has, by the package that Debian keeps them in. */
const programs = {
  setpriv: "util-linux",
  unshare: "util-linux",
  mount: "mount",
  hostname: "hostname",
  ip: "iproute2",
  go: "golang-go",
} as const;

/** Everything that keeps this machine from running real pods, each with what was expected, found, and what to do. */
export async function obstacles(env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  if (process.platform !== "linux")
    return [`expected Linux, found ${process.platform}: use kind there (deploy/kind.yaml)`];
  const found: string[] = [];
  if (process.getuid?.() !== 0)
    found.push(`expected to be root, found uid ${process.getuid?.()}: containers are made by root. Use sudo`);
  const fileSystems = readFileSync("/proc/filesystems", "utf8");
  if (!/\boverlay\b/.test(fileSystems))
    found.push("expected the file system overlay in /proc/filesystems, found none: modprobe overlay");
  if (cgroupHierarchies().length === 0)
    found.push(
      "expected cgroups under /sys/fs/cgroup, found none: mount them, or use a machine that has them",
    );
  for (const [name, debianPackage] of Object.entries(programs)) {
    if (!(await isOnPath(name, env)))
      found.push(`expected ${name} in PATH, found none: install ${debianPackage}`);
  }
  return found;
}

async function isOnPath(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const folder of (env.PATH ?? "").split(delimiter).filter((part) => part !== "")) {
    try {
      await access(join(folder, name), constants.X_OK);
      return true;
    } catch {
      // Perhaps in the next one.
    }
  }
  return false;
}
