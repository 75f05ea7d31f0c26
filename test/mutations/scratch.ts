/** A copy of the checkout to break, so that the user's own files stay untouched. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { extract } from "tar";
import { linkPackages } from "../harness/linkpackages.ts";

const run = promisify(execFile);

/** The checkout that this file is part of. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The copy. */
export interface Scratch {
  /** The files of the repository. */
  readonly checkout: string;
  /** Temporary files of the tests. They are deleted with the copy, even after a run was killed. */
  readonly temporary: string;
  remove(): Promise<void>;
}

/** The commit that a revision names. Throws when git does not know the revision. */
export async function commitOf(revision: string): Promise<string> {
  const words = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  try {
    return (await run("git", words, { cwd: root })).stdout.trim();
  } catch (error) {
    throw new Error(`"${revision}" is not a revision of this repository`, { cause: error });
  }
}

/** Copies the files of the checkout, or those of a commit, and links the installed packages. */
export async function openScratch(commit: string | undefined): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), "mutations-"));
  const [checkout, temporary] = [join(folder, "checkout"), join(folder, "tmp")];
  // A killed run may still have processes that are about to remove their own files.
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  try {
    await mkdir(checkout);
    await mkdir(temporary);
    await (commit === undefined ? copyFiles(checkout) : extractCommit(commit, checkout));
    linkPackages(checkout);
  } catch (error) {
    await remove();
    throw error;
  }
  return { checkout, temporary, remove };
}

async function copyFiles(to: string): Promise<void> {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await run("git", words, { cwd: root, maxBuffer: 2 ** 26 });
  for (const path of new Set(stdout.split("\0").filter(Boolean))) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await cp(join(root, path), join(to, path)).catch((error: NodeJS.ErrnoException) => {
      // Deleted in the working tree, and still tracked.
      if (error.code !== "ENOENT") throw error;
    });
  }
}

async function extractCommit(commit: string, to: string): Promise<void> {
  const archive = spawn("git", ["archive", "--format=tar", commit], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(archive, "exit");
  await pipeline(archive.stdout, extract({ cwd: to }));
  const [code] = await exited;
  if (code !== 0) throw new Error(`git archive ${commit} failed with exit code ${code}`);
}
