/** Error locations in the project's source files. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isProjectSource } from "./watch.ts";

/** A line of a source file. */
export interface Location {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly line: number;
}

/** `file:line`, which terminals turn into a link. */
export const locationText = ({ file, line }: Location): string => `${file}:${line}`;

const pathOf = (text: string): string => (text.startsWith("file:") ? fileURLToPath(text) : text);

/** The location, if the file is one of the project. */
function locationOf(root: string, path: string, line: string): Location | undefined {
  const file = relative(root, pathOf(path));
  return isProjectSource(file) ? { file, line: Number(line) } : undefined;
}

/** The project's own frames of a stack, innermost first; only those in functions/, if there are any. */
export function locationsIn(stack: string, root: string): Location[] {
  const all = [...stack.matchAll(/^\s+at .*?((?:file:\/\/)?\/[^\s():]+):(\d+):\d+\)?$/gm)].flatMap(
    ([, path = "", line = ""]) => locationOf(root, path, line) ?? [],
  );
  const inFunctions = all.filter(({ file }) => file.startsWith("functions/"));
  return inFunctions.length > 0 ? inFunctions : all;
}

/** The text of a line; undefined if it is empty or cannot be read. */
export function sourceLine({ file, line }: Location, root: string): string | undefined {
  try {
    return readFileSync(`${root}/${file}`, "utf8").split("\n")[line - 1]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Why code does not load, according to the output of Node. */
export interface LoadError {
  readonly location: Location | undefined;
  readonly lines: readonly string[];
}

/** Reads the last output of a process that could not load or start its code. */
export function loadErrorIn(output: readonly string[], root: string): LoadError {
  for (const [at, text] of output.entries()) {
    const [, path = "", line = ""] = /^((?:file:\/\/)?\/.*):(\d+)$/.exec(text) ?? [];
    const location = path === "" ? undefined : locationOf(root, path, line);
    if (location === undefined) continue;
    const rest = output.slice(at + 1);
    const end = rest.findIndex((one) => /^\s+at |^Node\.js v/.test(one));
    const message = rest.slice(0, end < 0 ? undefined : end);
    return { location, lines: message.filter((one) => one.trim() !== "") };
  }
  const stack = output.join("\n");
  const lines = output.filter((one) => !/^\s+at |^Node\.js v|^\s*$/.test(one));
  return { location: locationsIn(stack, root)[0], lines };
}
