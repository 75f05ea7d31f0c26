/** What files take. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Bytes that the files under a folder occupy. A file that goes away meanwhile counts for nothing. */
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
