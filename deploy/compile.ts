/**
 * Loads all modules that processes of the image use, to fill Node's compile cache (NODE_COMPILE_CACHE). Processes then start
 * without compiling, and without loading the TypeScript transformer.
 */
import { catalog } from "../functions/catalog.ts";

await Promise.all([
  import("./cli/bridge.ts"),
  import("./cli/dashboard.ts"),
  import("./cli/gateway.ts"),
  import("./cli/worker.ts"),
]);
await Promise.all(Object.values(catalog).map((load) => load()));
// Functions import it at their first call.
await import("../functions/pipecd/api/client.ts");
// Last: it parses the command line, which contains only --version, and exits.
process.argv.push("--version");
await import("./cli/denrei.ts");
