#!/usr/bin/env node
// `npm create denrei@latest <folder>`: the same as `denrei init <folder>`. The launcher reports a Node that is too old.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

if (process.argv.length < 3) {
  console.error(
    "create-denrei: the folder of the new project is missing. Expected: npm create denrei@latest my-operator",
  );
  process.exit(2);
}
const denrei = dirname(createRequire(import.meta.url).resolve("denrei/package.json"));
process.argv.splice(2, 0, "init");
await import(pathToFileURL(join(denrei, "command/denrei.js")).href);
