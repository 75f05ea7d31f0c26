/** Builds Gitea from its pinned Go module, once per machine. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cacheRoot, isExecutable } from "../../deploy/local/binaries/installed.ts";
import { withLock } from "../../deploy/local/binaries/lock.ts";

const run = promisify(execFile);
const module = fileURLToPath(new URL("./module", import.meta.url));
const path = "code.gitea.io/gitea";
/** Gitea reads these at run time. */
const resources = ["templates", "options", "public"];

/** A built Gitea: its program, and the folder of what it reads at run time. */
export interface GiteaProgram {
  readonly command: string;
  readonly folder: string;
}

/** Returns the program from the cache, or builds it, which takes four minutes of one processor and needs Go and a C compiler. */
export async function giteaProgram(): Promise<GiteaProgram> {
  const { stdout } = await go("list", "-m", "-f", "{{.Version}}", path);
  const parent = join(cacheRoot(process.env), "bin");
  const folder = join(parent, `gitea-${stdout.trim()}`);
  await mkdir(parent, { recursive: true });
  const command = join(folder, "gitea");
  await withLock(`${folder}.lock`, {}, async () => {
    if (!(await isExecutable(command))) await build(folder);
  });
  return { command, folder };
}

/** Builds into a scratch folder, and renames it, so that no other process sees a part. */
async function build(folder: string): Promise<void> {
  const scratch = `${folder}.scratch`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch);
  // SQLite is a C library.
  const tags = ["-tags", "sqlite sqlite_unlock_notify"];
  const smaller = ["-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w"];
  await go("build", ...smaller, ...tags, "-o", join(scratch, "gitea"), path);
  const { stdout } = await go("list", "-m", "-f", "{{.Dir}}", path);
  for (const name of resources) {
    await cp(join(stdout.trim(), name), join(scratch, name), { recursive: true });
    // The module cache is read-only, and a folder that is cannot be removed.
    await run("chmod", ["-R", "u+w", join(scratch, name)]);
  }
  await chmod(join(scratch, "gitea"), 0o755);
  await rm(folder, { recursive: true, force: true });
  await rename(scratch, folder);
}

const go = (...args: readonly string[]) =>
  run("go", args, { cwd: module, env: { ...process.env, GOWORK: "off", CGO_ENABLED: "1" } });
