/**
 * Loads the modules of all processes and the functions of the project, to fill Node's compile cache (NODE_COMPILE_CACHE) when an
 * image is built. Processes then start without compiling, and without loading the TypeScript transformer.
 */
import "../nodeversion.ts";
import { openProject } from "../project/project.ts";

await Promise.all([
  import("./admission.ts"),
  import("./bridge.ts"),
  import("./gateway.ts"),
  import("./run.ts"),
  import("./worker.ts"),
]);
await (await openProject()).all();
// Last: it parses the command line, which contains only --version, and exits.
process.argv.push("--version");
await import("./main.ts");
