/** Disk usage of files. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The bytes that the files in a folder occupy. Files deleted meanwhile are ignored. */
export async function diskBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
