/**
 * Loads everything that processes of the image run, so that Node's compile cache has it (NODE_COMPILE_CACHE): they then start
 * without compiling, and without loading what turns TypeScript into JavaScript.
 */
import { catalog } from "../functions/catalog.ts";

await Promise.all([
  import("./cli/bridge.ts"),
  import("./cli/dashboard.ts"),
  import("./cli/gateway.ts"),
  import("./cli/worker.ts"),
]);
await Promise.all(Object.values(catalog).map((load) => load()));
// Functions load it at their first call.
await import("../functions/pipecd/api/client.ts");
// Last: it takes the command line, which is empty here, and ends the process.
process.argv.push("--version");
await import("./cli/denrei.ts");
