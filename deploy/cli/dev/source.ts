/** Errors as somebody who is writing the code wants them: with file and line, and nothing of the machinery below. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { watchedFolders } from "./watch.ts";

/** A place in a source file. */
export interface Place {
  /** From the root of the project. */
  readonly file: string;
  readonly line: number;
}

/** A place for people, and for terminals that make it a link. */
export const placeText = ({ file, line }: Place): string => `${file}:${line}`;

const pathOf = (text: string): string => (text.startsWith("file:") ? fileURLToPath(text) : text);

function placeOf(root: string, path: string, line: string): Place | undefined {
  const file = relative(root, pathOf(path));
  return watchedFolders.some((folder) => file.startsWith(`${folder}/`))
    ? { file, line: Number(line) }
    : undefined;
}

/** Where a stack goes through the project's own code, from where it was thrown; that of functions alone, if there is some. */
export function placesIn(stack: string, root: string): Place[] {
  const places = [...stack.matchAll(/^\s+at .*?((?:file:\/\/)?\/[^\s():]+):(\d+):\d+\)?$/gm)].flatMap(
    ([, path = "", line = ""]) => placeOf(root, path, line) ?? [],
  );
  const own = places.filter(({ file }) => file.startsWith("functions/"));
  return own.length > 0 ? own : places;
}

/** Lines of source around nothing but the one that is meant; none when it can not be read. */
export function sourceLine({ file, line }: Place, root: string): string | undefined {
  try {
    return readFileSync(`${root}/${file}`, "utf8").split("\n")[line - 1]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Why code does not load, of what Node writes when it ends for that. */
export interface LoadError {
  readonly place: Place | undefined;
  readonly lines: readonly string[];
}

/** Reads the last words of a process that could not load its code, or could not begin. */
export function loadErrorIn(output: readonly string[], root: string): LoadError {
  for (const [at, text] of output.entries()) {
    const [, path = "", line = ""] = /^((?:file:\/\/)?\/.*):(\d+)$/.exec(text) ?? [];
    const place = path === "" ? undefined : placeOf(root, path, line);
    if (place === undefined) continue;
    const rest = output.slice(at + 1);
    const end = rest.findIndex((one) => /^\s+at |^Node\.js v/.test(one));
    const message = rest.slice(0, end < 0 ? undefined : end);
    return { place, lines: message.filter((one) => one.trim() !== "") };
  }
  const stack = output.join("\n");
  const lines = output.filter((one) => !/^\s+at |^Node\.js v|^\s*$/.test(one));
  return { place: placesIn(stack, root)[0], lines };
}
