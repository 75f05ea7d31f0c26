/** `node deploy/local/node/main.ts <command>`: runs a command in namespaces for a node. */
import { enter } from "./enter.ts";

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error("missing command. Example: node deploy/local/node/main.ts bash");
  process.exitCode = 2;
} else {
  process.exitCode = await enter(command);
}
