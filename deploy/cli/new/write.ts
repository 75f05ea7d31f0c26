/** Writing files, all or none. */
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PlannedFile } from "./files.ts";

/** Files that were written. */
export interface Written {
  /** Takes all of it back: changed files are as before, new ones are gone, and so are folders that were made for them. */
  undo(): Promise<void>;
}

/** Writes them. What fails is taken back, and thrown. */
export async function writeAll(root: string, files: readonly PlannedFile[]): Promise<Written> {
  const done: (() => Promise<unknown>)[] = [];
  const undo = async (): Promise<void> => {
    for (const back of done.splice(0).reverse()) await back();
  };
  try {
    for (const { path, text, before } of files) {
      const file = join(root, path);
      const made = await mkdir(dirname(file), { recursive: true });
      if (made !== undefined) done.push(() => removeEmpty(dirname(file), made));
      done.push(() => (before === undefined ? rm(file, { force: true }) : writeFile(file, before)));
      await writeFile(file, text);
    }
    return { undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Removes a folder and those around it up to the first that was made, as long as they are empty. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let at = folder; at.length >= first.length; at = dirname(at)) await rmdir(at).catch(() => undefined);
}
