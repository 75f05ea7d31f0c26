/** A lock between processes, so that only one of them downloads or builds a program and the others wait for it. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { identify, isRunning } from "../run/identity.ts";

/** Options of a lock. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once while another process holds the lock, with its pid if known. */
  readonly onWait?: ((pid: number | undefined) => void) | undefined;
}

const Owner = z.object({ pid: z.number(), started: z.string() });

/** A lock without an owner file after this time was left behind by a process that died while taking it. */
const namelessMillis = 5000;

/**
 * Runs `work` while holding the lock directory `path`. Breaks the lock of a dead process.
 *
 * The lock only avoids duplicate work. Two processes may, rarely, break the same stale lock and both do the work. That is harmless,
 * because each renames its result into place atomically.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  let reported = false;
  while (!(await tryLock(path))) {
    options.signal?.throwIfAborted();
    const owner = await ownerOf(path);
    if (owner === "dead") {
      await breakLock(path);
      continue;
    }
    if (!reported) options.onWait?.(owner?.pid);
    reported = true;
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
  try {
    await writeFile(join(path, "owner.json"), JSON.stringify(identify(process.pid)));
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
  return true;
}

/** The live owner; undefined when it is not known (yet); "dead" when the lock is stale. */
async function ownerOf(path: string): Promise<{ readonly pid: number } | undefined | "dead"> {
  try {
    const { mtimeMs } = await stat(path);
    const owner = await readOwner(path);
    if (owner) return isRunning(owner) ? owner : "dead";
    return Date.now() - mtimeMs > namelessMillis ? "dead" : undefined;
  } catch {
    // The lock has just been released.
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

/** Renames the lock, so that only one of several processes with the same stale lock removes it. Throws if it may not. */
async function breakLock(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}
