/** The program in another version: a copy of its sources, changed in places. */
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What is different there. */
export interface Difference {
  readonly file: string;
  /** Text that is there once. */
  readonly here: string;
  readonly there: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Copies the program into a new folder and changes the copy. Returns the folder. Throws when a text is not there once. */
export async function otherVersion(folder: string, differences: readonly Difference[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    ["bus", "functions", "deploy", "package.json"].map((name) =>
      cp(join(root, name), join(folder, name), {
        recursive: true,
        filter: (path) => !path.endsWith(".test.ts"),
      }),
    ),
  );
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  for (const { file, here, there } of differences) {
    const path = join(folder, file);
    const parts = (await readFile(path, "utf8")).split(here);
    if (parts.length !== 2)
      throw new Error(
        `expected the text once in ${file}, found it ${parts.length - 1} times: ${here}. Say again what is different in the other version.`,
      );
    await writeFile(path, parts.join(there));
  }
  return folder;
}
