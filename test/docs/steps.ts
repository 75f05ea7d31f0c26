/** The steps of a page that a reader follows: commands to run, files to write and to change, and output to see. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A file to write, or a part of it to replace. */
export type Edit =
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  | { readonly kind: "change"; readonly path: string; readonly before: string; readonly after: string };

/** A step, in the order of the page. */
export type Step =
  | Edit
  | { readonly kind: "command"; readonly text: string }
  /** Lines that the command before it prints, or that appear in the first terminal, where `npm run dev` runs. */
  | { readonly kind: "output" | "first terminal"; readonly lines: readonly string[] };

/** A block, and the path of the file before it: "`path` becomes:" or "In `path`, change:". */
const block =
  /(?:(?:`([^`\n]+)` becomes|[Ii]n\s`([^`\n]+)`, change):\n\n)?```(\w+)(?: ([\w ]+))?\n(.*?)```\n/gs;

/** The steps of a page. Blocks in other languages are none. */
export function stepsOf(page: string): Step[] {
  return [...page.matchAll(block)].flatMap(([, written, changed, language, place, text = ""]): Step[] => {
    if (written !== undefined) return [{ kind: "file", path: written, text }];
    if (changed !== undefined) return [changeOf(changed, text)];
    if (language === "sh") return [{ kind: "command", text: text.trim() }];
    const kind = place === "first terminal" ? place : "output";
    if (language === "text") return [{ kind, lines: text.trimEnd().split("\n") }];
    return [];
  });
}

/** What a `diff` block replaces. Lines without a sign are in both texts. */
function changeOf(path: string, text: string): Step {
  const lines = text.split("\n").slice(0, -1);
  const without = (sign: string) =>
    lines.flatMap((line) => (line.startsWith(sign) ? [] : [`${line.slice(1)}\n`])).join("");
  return { kind: "change", path, before: without("+"), after: without("-") };
}

/**
 * Whether a line is the one on the page. Numbers, durations such as `1.5 s`, ages such as `2m5s`, and the width of columns differ from
 * run to run, and `…` stands for any text.
 */
export function isLine(expected: string, line: string): boolean {
  const pattern = expected
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("…", ".*")
    .replaceAll(/\d+(?:\\\.\d+)? m?s\b/g, String.raw`[\d.]+ m?s`)
    .replaceAll(/\b(?:\d+[smhd])+\b|\d+/g, (part) =>
      /\d$/.test(part) ? String.raw`\d+` : String.raw`(?:\d+[smhd])+`,
    )
    .replaceAll(/ +/g, " +");
  return new RegExp(`${pattern}\\s*$`).test(line);
}

/** Edits a file as the page says. Throws if the file does not contain exactly once what changes. */
export function edit(folder: string, step: Edit): void {
  const file = join(folder, step.path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, step.kind === "file" ? step.text : changed(readFileSync(file, "utf8"), step));
}

function changed(text: string, { path, before, after }: Extract<Edit, { kind: "change" }>): string {
  const parts = text.split(before);
  if (parts.length === 2) return parts.join(after);
  throw new Error(`expected ${path} to contain once, found ${parts.length - 1} times:\n${before}`);
}
