/** Trees of files on disk. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "denrei/runtime";
import { type Tree, treeMark } from "./tree.ts";

/** Throws a {@link UsageError} when the folder holds something other than an earlier tree. A missing folder is fine. */
export async function expectTreeFolder(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  if (found.length === 0) return;
  const text = await readFile(join(folder, "kustomization.yaml"), "utf8").catch(() => "");
  if (!text.startsWith(treeMark))
    throw new UsageError(
      `--out: expected ${folder} to be empty or to hold an earlier output, found ${found.slice(0, 5).join(", ")}: choose another folder`,
    );
}

/** Replaces the content of the folder with the tree. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of tree) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** The result of `use` for a temporary folder with the tree. */
export async function inTemporaryFolder<T>(tree: Tree, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "denrei-manifests-"));
  try {
    await writeTree(folder, tree);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
