/** The program that starts the command line. */
import { fileURLToPath } from "node:url";

/** Its path. It runs on any version of Node. */
export const launcher: string = fileURLToPath(new URL("./denrei.js", import.meta.url));
