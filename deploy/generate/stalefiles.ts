/** Generated files on disk. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generatedFolders, mark } from "./files.ts";
import type { GeneratedFiles } from "./manifestfiles.ts";

/** A file that differs from its generated content. `reason` is a phrase for people. */
export interface StaleFile {
  readonly path: string;
  readonly reason: "missing" | "differs" | "no longer generated";
}

/** Compares the files on disk with the desired ones. Ignores files without the generator's mark. */
export async function staleFiles(root: string, desired: GeneratedFiles): Promise<StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const [path, text] of desired) {
    const found = await textOf(join(root, path));
    if (found !== text) stale.push({ path, reason: found === undefined ? "missing" : "differs" });
  }
  for (const folder of generatedFolders) {
    for (const name of await namesIn(join(root, folder))) {
      const path = `${folder}/${name}`;
      if (desired.has(path) || !/\.(yaml|ts)$/.test(name)) continue;
      if ((await textOf(join(root, path)))?.split("\n", 1)[0]?.includes(mark)) {
        stale.push({ path, reason: "no longer generated" });
      }
    }
  }
  return stale;
}

/** Writes outdated files, removes those no longer generated, and returns both. */
export async function writeFiles(root: string, desired: GeneratedFiles): Promise<StaleFile[]> {
  const stale = await staleFiles(root, desired);
  for (const { path } of stale) {
    const text = desired.get(path);
    if (text === undefined) {
      await rm(join(root, path));
      continue;
    }
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return stale;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
