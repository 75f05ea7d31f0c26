/** Writing files: all or none. */
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file to write. */
export interface PlannedFile {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
  /** The present text; undefined for a new file. */
  readonly before: string | undefined;
}

/** Written files. */
export interface Written {
  /** Restores changed files, and removes new files and folders. */
  undo(): Promise<void>;
}

/** Writes the files. After an error, undoes everything and rethrows the error. */
export async function writeAll(root: string, files: readonly PlannedFile[]): Promise<Written> {
  const done: (() => Promise<unknown>)[] = [];
  const undo = async (): Promise<void> => {
    for (const back of done.splice(0).reverse()) await back();
  };
  try {
    for (const { path, text, before } of files) {
      const file = join(root, path);
      const firstCreated = await mkdir(dirname(file), { recursive: true });
      if (firstCreated !== undefined) done.push(() => removeEmpty(dirname(file), firstCreated));
      done.push(() => (before === undefined ? rm(file, { force: true }) : writeFile(file, before)));
      await writeFile(file, text);
    }
    return { undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Removes empty folders from `folder` up to `first`. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let at = folder; at.length >= first.length; at = dirname(at)) await rmdir(at).catch(() => undefined);
}
