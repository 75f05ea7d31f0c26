/** Links to a line of a source file, such as [`watchKind`](../bus/bridge/watcher.ts#L61): the line declares the name in the link's text. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const lineLinks = /\[([^\]\n]+)\]\(([^)\s#]+)#L(\d+)\)/g;

/** The link text without backticks, parentheses, and what stands before a dot. */
const nameIn = (text: string): string => text.replaceAll(/[`()]/g, "").split(".").at(-1) ?? "";

/** Lines that declare a name, counted from 1: functions, constants, types, and methods. */
export function declarations(source: string, name: string): number[] {
  if (!/^[\w$]+$/.test(name)) return [];
  const id = name.replaceAll("$", "\\$");
  const declaration = new RegExp(
    `\\b(?:function\\*?|const|let|class|interface|type) ${id}\\b|^\\s+(?:async )?${id}[(<].*(?:(?<!=> )\\{|\\): .*;)$|^\\s+async ${id}[(<].*\\($`,
  );
  return source.split("\n").flatMap((line, index) => (declaration.test(line) ? [index + 1] : []));
}

/** The page with current line numbers, and what is wrong with the ones it has. */
export interface CheckedLines {
  readonly text: string;
  readonly problems: readonly string[];
}

/** Compares the line links of a page with the sources. A name that is declared more than once keeps the nearest line. */
export function checkLines(root: string, page: string, text: string): CheckedLines {
  const problems: string[] = [];
  const current = text.replaceAll(
    lineLinks,
    (link: string, label: string, target: string, number: string) => {
      const path = join(dirname(page), target);
      const name = nameIn(label);
      if (!existsSync(join(root, path))) {
        problems.push(`${link}: ${path} does not exist`);
        return link;
      }
      const source = readFileSync(join(root, path), "utf8");
      const linked = Number(number);
      const found = declarations(source, name);
      if (found.includes(linked)) return link;
      const [nearest] = found.toSorted((a, b) => Math.abs(a - linked) - Math.abs(b - linked));
      if (nearest === undefined) {
        const line = source.split("\n")[linked - 1]?.trim() ?? "the file is shorter";
        problems.push(`${link}: ${path} does not declare ${name}; its line ${linked} is now: ${line}`);
        return link;
      }
      problems.push(`${link}: ${name} is on line ${nearest} of ${path}; run node test/docs/relink.ts`);
      return `[${label}](${target}#L${nearest})`;
    },
  );
  return { text: current, problems };
}
