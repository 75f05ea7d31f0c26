/** How processes of tests start quickly: most of a start of Node is loading hundreds of small modules. */
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The variable with the path of the module that `packages.ts` has written. */
export const packagesVariable = "DENREI_TEST_PACKAGES";

/** For the environment of a process: it has the code that earlier ones have compiled. The folder is Node's own. */
export const compiledBefore = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), "node-compile-cache"),
};

/** For the arguments of Node, before the program. */
export function quickly(): string[] {
  const module = process.env[packagesVariable];
  return module === undefined ? [] : ["--import", module];
}
