/** Cleans up runs whose owner and reaper both died, for example when the machine crashed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, rmdir, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { lifelineScript } from "./child.ts";
import { isRunning } from "./identity.ts";

/** The file that names a run's owner. Directories without it are not runs and are ignored. */
export const ownerFile = "owner.json";

const Owner = z.object({ host: z.string(), pid: z.number(), started: z.string() });

/** How long an empty directory counts as a run that is being created. */
const emptyMillis = 60_000;

/** Ends the children and removes the directories of all runs with a dead owner. */
export async function sweepAbandonedRuns(root: string = tmpdir()): Promise<void> {
  const names = await readdir(root);
  const runs = names.filter((name) => name.startsWith("denrei-")).map((name) => join(root, name));
  await Promise.all(runs.map(sweep));
}

async function sweep(directory: string): Promise<void> {
  if (!(await isAbandoned(directory))) return;
  // The reaper's own procedure, with standard input already at its end.
  const devNull = openSync("/dev/null", "r");
  const reaper = spawn("/bin/sh", [lifelineScript, "reap", directory], {
    stdio: [devNull, "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  closeSync(devNull);
  await once(reaper, "exit");
}

async function isAbandoned(directory: string): Promise<boolean> {
  let text: string;
  try {
    const { uid, mtimeMs } = await stat(directory);
    // Other users' directories in the temporary folder may contain anything.
    if (uid !== process.getuid?.()) return false;
    if (Date.now() - mtimeMs > emptyMillis) await rmdir(directory).catch(() => undefined);
    text = await readFile(join(directory, ownerFile), "utf8");
  } catch {
    return false;
  }
  const owner = Owner.safeParse(parse(text));
  if (!owner.success) return false;
  // In a folder shared between containers, pids of other containers mean nothing here.
  if (owner.data.host !== hostname()) return false;
  return !isRunning(owner.data);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
