/** The repository of Denrei, which is a project itself. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Its root. In an installed package, a folder that is no project. */
export const repository: string = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** Whether a project is the repository, whose files are generated and arranged in its own way. */
export const isRepository = (folder: string): boolean => resolve(folder) === repository;
