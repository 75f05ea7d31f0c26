/** Clearing away runs whose owner and reaper both died: after a crash of the machine, say. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, rmdir, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { lifelineScript } from "./child.ts";
import { isRunning } from "./identity.ts";

/** Says in a run's directory who owns it. Without this file a directory is not a run, and is left alone. */
export const ownerFile = "owner.json";

const Owner = z.object({ host: z.string(), pid: z.number(), started: z.string() });

/** An empty directory is one that is about to be a run, unless it stays so for this long. */
const emptyMillis = 60_000;

/** Ends the children and removes the directories of all runs whose owner is dead. */
export async function sweepAbandonedRuns(root: string = tmpdir()): Promise<void> {
  const names = await readdir(root);
  const runs = names.filter((name) => name.startsWith("denrei-")).map((name) => join(root, name));
  await Promise.all(runs.map(sweep));
}

async function sweep(directory: string): Promise<void> {
  if (!(await isAbandoned(directory))) return;
  // The reaper's own procedure, with a lifeline that is cut already.
  const nothing = openSync("/dev/null", "r");
  const reaper = spawn("/bin/sh", [lifelineScript, "reap", directory], {
    stdio: [nothing, "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  closeSync(nothing);
  await once(reaper, "exit");
}

async function isAbandoned(directory: string): Promise<boolean> {
  let text: string;
  try {
    const { uid, mtimeMs } = await stat(directory);
    // Directories under the system's temporary folder can be anybody's, with any content.
    if (uid !== process.getuid?.()) return false;
    if (Date.now() - mtimeMs > emptyMillis) await rmdir(directory).catch(() => undefined);
    text = await readFile(join(directory, ownerFile), "utf8");
  } catch {
    return false;
  }
  const owner = Owner.safeParse(parse(text));
  if (!owner.success) return false;
  // A folder shared between containers: another one's pids mean nothing here.
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
