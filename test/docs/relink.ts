/** `node test/docs/relink.ts`: updates the line numbers in links from the pages in `docs/` to source files. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkLines } from "./lines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

for (const name of readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))) {
  const page = `docs/${name}`;
  const before = readFileSync(join(root, page), "utf8");
  const { text, problems } = checkLines(root, page, before);
  for (const problem of problems) console.log(`${page}: ${problem}`);
  if (text !== before) {
    writeFileSync(join(root, page), text);
    console.log(`wrote ${page}`);
  }
}
