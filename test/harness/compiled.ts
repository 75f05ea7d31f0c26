/** What the command line does for itself: processes of tests start with what earlier ones have compiled. */
import { tmpdir } from "node:os";
import { join } from "node:path";

/** For the environment of a process that is not started by `deploy/cli/denrei.js`. The folder is Node's own. */
export const compiledBefore = { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };
