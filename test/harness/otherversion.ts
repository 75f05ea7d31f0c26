/** Another version of the program: a copy of its sources with changes. */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { linkPackages } from "./linkpackages.ts";

/** A change. */
export interface Difference {
  readonly file: string;
  /** Text that occurs exactly once. */
  readonly here: string;
  readonly there: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Copies the program into a new folder and changes the copy. Returns the folder. Throws when a text does not occur exactly once. */
export async function otherVersion(folder: string, differences: readonly Difference[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    ["bus", "dashboard", "functions", "deploy", "denrei.config.ts", "package.json"].map((name) =>
      cp(join(root, name), join(folder, name), {
        recursive: true,
        filter: (path) => !path.endsWith(".test.ts"),
      }),
    ),
  );
  linkPackages(folder);
  for (const { file, here, there } of differences) {
    const path = join(folder, file);
    const parts = (await readFile(path, "utf8")).split(here);
    if (parts.length !== 2)
      throw new Error(
        `expected the text once in ${file}, found it ${parts.length - 1} times: ${here}. Adapt the difference of the other version.`,
      );
    await writeFile(path, parts.join(there));
  }
  return folder;
}
