#!/usr/bin/env node
// The sources are TypeScript, which Node 24 runs as it is. An older Node hands over to the one that is installed
// with the project, and is then only in the way: signals, exit code and end pass through it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("./denrei.ts", import.meta.url));
if (Number(process.versions.node.split(".")[0]) >= 24) {
  // Before the first TypeScript: with what an earlier start has compiled, Node need not load what turns it into JavaScript.
  nodeModule.enableCompileCache();
  await import(main);
} else {
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  if (!existsSync(node)) {
    console.error(
      `denrei needs Node 24 or later, found ${process.version}. Install it, or run \`npm ci\` on a platform it is packaged for.`,
    );
    process.exit(1);
  }
  // The channel carries nothing: its end tells the child that this process was killed.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  for (const signal of forwarded) process.on(signal, forward);
  child.once("error", (error) => {
    console.error(`denrei: expected ${node} to run, but ${error.message}`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => {
    for (const name of forwarded) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}
