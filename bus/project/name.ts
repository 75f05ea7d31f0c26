/** The name of a project, which distinguishes it from other projects on the same bus. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The name in `package.json`; without one, that of the folder. */
export function defaultName(folder: string): string {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: unknown };
    if (typeof name === "string" && name !== "") return name;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return basename(folder);
}
