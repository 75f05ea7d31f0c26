/** `node deploy/local/node/main.ts <command>`: runs a command where a node can be started. */
import { enter } from "./enter.ts";

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error(
    "expected a command to run where a node can be started, found none: node deploy/local/node/main.ts bash",
  );
  process.exitCode = 2;
} else {
  process.exitCode = await enter(command);
}
