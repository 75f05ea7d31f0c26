/** One process at a time gets a program; the others wait for it instead of compiling the same thing again. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { identify, isRunning } from "../run/identity.ts";

/** What to do while somebody else has the lock. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once, with the owner's pid as far as it is known. */
  readonly onWait?: ((pid: number | undefined) => void) | undefined;
}

const Owner = z.object({ pid: z.number(), started: z.string() });

/** A lock without an owner's name for this long was left by a process that died while taking it. */
const namelessMillis = 5000;

/**
 * Runs `work` while holding the lock directory `path`. The lock of a dead process is broken.
 *
 * It saves work and no more: in the rare case that two processes break the same stale lock, both do the work, and
 * the atomic rename of its result keeps that harmless.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  let told = false;
  while (!(await tryLock(path))) {
    options.signal?.throwIfAborted();
    const owner = await ownerOf(path);
    if (owner === "dead") {
      await breakLock(path);
      continue;
    }
    if (!told) options.onWait?.(owner?.pid);
    told = true;
    await sleep(100, undefined, { signal: options.signal }).catch(() => undefined);
  }
  try {
    return await work();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  await writeFile(join(path, "owner.json"), JSON.stringify(identify(process.pid)));
  return true;
}

/** The live owner, undefined when it is not known (yet), or "dead". */
async function ownerOf(path: string): Promise<{ readonly pid: number } | undefined | "dead"> {
  try {
    const { mtimeMs } = await stat(path);
    const owner = await readOwner(path);
    if (owner) return isRunning(owner) ? owner : "dead";
    return Date.now() - mtimeMs > namelessMillis ? "dead" : undefined;
  } catch {
    // Released just now.
    return undefined;
  }
}

async function readOwner(path: string): Promise<z.infer<typeof Owner> | undefined> {
  try {
    return Owner.parse(JSON.parse(await readFile(join(path, "owner.json"), "utf8")));
  } catch {
    return undefined;
  }
}

/** In one step, so that of several who find the same stale lock only one takes it away. */
async function breakLock(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  await rm(aside, { recursive: true, force: true });
}
