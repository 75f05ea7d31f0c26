/** Faster process starts: Node spends most of a start loading hundreds of small modules. */
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The variable with the path of the module that `packages.ts` writes. */
export const packagesVariable = "DENREI_TEST_PACKAGES";

/** Environment that makes Node reuse compiled code of earlier processes. The folder is Node's own. */
export const compiledBefore = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), "node-compile-cache"),
};

/** Arguments of Node before the program. */
export function quickly(): string[] {
  const module = process.env[packagesVariable];
  return module === undefined ? [] : ["--import", module];
}
