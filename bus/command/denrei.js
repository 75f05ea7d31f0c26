#!/usr/bin/env node
// Node 24 runs the TypeScript sources directly. An older Node starts the one that is installed with the project, and passes on
// signals and the exit code.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));
if (Number(process.versions.node.split(".")[0]) >= 24) {
  // Before the first TypeScript module: with a warm cache, Node does not load its type stripper.
  nodeModule.enableCompileCache();
  await import(main);
} else {
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  if (!existsSync(node)) {
    console.error(
      `denrei needs Node 24 or later, found ${process.version}: install a newer one from https://nodejs.org, or select one with your version manager. In a checkout of Denrei, \`npm ci\` installs one for most platforms.`,
    );
    process.exit(1);
  }
  // The IPC channel carries no messages. When it closes, the child knows that this process was killed.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  for (const signal of forwarded) process.on(signal, forward);
  child.once("error", (error) => {
    console.error(`denrei: cannot run ${node}: ${error.message}`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => {
    for (const name of forwarded) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}
