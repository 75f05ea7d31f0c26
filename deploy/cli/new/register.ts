/** Adding a function to the configuration of a project. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "denrei/runtime";
import type { Scaffold, Target } from "./scaffold.ts";
import type { PlannedFile } from "./write.ts";

/** Adds a function first in the list of the project's own. Throws a {@link UsageError} if the list has another form. */
export async function registered({ root, config }: Target, { name, system }: Scaffold): Promise<PlannedFile> {
  const before = await readFile(join(root, config), "utf8");
  const key = /^[a-z]\w*$/.test(name) ? name : `"${name}"`;
  const entry = `    ${key}: () => import("./functions/${system}/${name}.ts"),`;
  return { path: config, text: withEntry(before, entry) ?? refuse(config, entry), before };
}

function withEntry(text: string, entry: string): string | undefined {
  const list = /\bfunctions: \{(\n| *\},?\n)?/.exec(text);
  if (list !== null) {
    const rest = list[1] === undefined || list[1] === "\n" ? "\n" : "\n  },\n";
    return text.replace(list[0], `functions: {\n${entry}${rest}`);
  }
  if (/\bfunctions\b *[:,]/.test(text)) return undefined;
  const start = /\bdefineConfig\(\{\n?/.exec(text);
  return start === null
    ? undefined
    : text.replace(start[0], `defineConfig({\n  functions: {\n${entry}\n  },\n`);
}

function refuse(config: string, entry: string): never {
  throw new UsageError(
    `cannot add the function to ${config}: expected defineConfig({ functions: { … } }) with a line for each function, such as ` +
      `\`${entry.trim()}\``,
  );
}
