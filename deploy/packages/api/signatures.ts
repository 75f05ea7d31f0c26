/** Declarations as formatted TypeScript. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { root } from "../workspaces.ts";
import { commentText } from "./comment.ts";
import { type Item, textOf } from "./model.ts";

/** The text of each declaration, formatted. Rejects with Biome's messages. */
export async function signatures(items: readonly Item[]): Promise<ReadonlyMap<Item, string>> {
  const marked = items.map((item, at) => `${mark(at)}\n${declaration(item)}\n`).join("");
  const formatted = await format(marked.replaceAll(/\bimport\("\.[^"]*"\)\./g, ""));
  return new Map(
    items.map((item, at) => {
      const start = formatted.indexOf(mark(at)) + mark(at).length;
      const end = at + 1 < items.length ? formatted.indexOf(mark(at + 1)) : undefined;
      return [
        item,
        formatted
          .slice(start, end)
          .trim()
          .replace(/^(export )?(declare )?/, ""),
      ];
    }),
  );
}

const mark = (at: number): string => `// declaration ${at}.`;

/** The declaration with its members, and their comments. */
function declaration(item: Item): string {
  const head = textOf(item).trim();
  const { members = [] } = item;
  if (item.kind !== "Interface" && item.kind !== "Class") return head;
  return `${head} {\n${members.map((member) => `${comment(member)}${textOf(member)}\n`).join("")}}`;
}

const comment = ({ kind, docComment = "" }: Item): string => {
  const lines = commentText(docComment)
    .replaceAll(/\{@link ([^}|]+?)\}/g, "$1")
    .split("\n");
  // API Extractor writes its own comment on constructors.
  if (lines[0] === "" || (kind === "Constructor" && lines[0]?.startsWith("Constructs a new instance")))
    return "";
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
};

async function format(code: string): Promise<string> {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  // The path only says which language and which settings.
  const child = spawn(
    process.execPath,
    [biome, "format", "--stdin-file-path=bus/declarations.ts", "--max-diagnostics=3"],
    {
      cwd: root,
    },
  );
  child.stdin.end(code);
  const [formatted, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (formatted === "") throw new Error(`declarations cannot be formatted:\n${problems}`);
  return formatted;
}
