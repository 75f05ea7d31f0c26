/** Text of `.env` files: https://github.com/motdotla/dotenv#readme. Pure. */

/** A variable of the text. */
export interface Assignment {
  readonly name: string;
  readonly value: string;
}

/** A parsed text. */
export interface ParsedText {
  /** Each name once, with its last value. */
  readonly variables: readonly Assignment[];
  /** Numbers of the lines that are neither variables, comments, nor empty. From 1. */
  readonly unknownLines: readonly number[];
}

const ignored = /^\s*(#.*)?$/;
const begin = /^\s*(?:export\s+)?([^\s=#"'`][^\s=]*)\s*=\s*/;
const quoted = /^(["'`])((?:\\.|(?!\1)[^\\])*)\1[ \t]*(#[^\n]*)?(?=\n|$)/s;

/** Parses a text. Values in quotes may span lines; in double quotes, `\n` and the like are replaced. */
export function parseDotenv(text: string): ParsedText {
  const variables = new Map<string, string>();
  const unknownLines: number[] = [];
  let rest = text.replaceAll(/\r\n?/g, "\n");
  for (let line = 1; rest !== ""; ) {
    const { used, variable } = parseFirst(rest);
    if (variable) variables.set(variable.name, variable.value);
    else if (!ignored.test(used)) unknownLines.push(line);
    rest = rest.slice(used.length + 1);
    line += used.split("\n").length;
  }
  return { variables: [...variables].map(([name, value]) => ({ name, value })), unknownLines };
}

/** Parses the first variable or line of a text. `used` is its text, without the line break at its end. */
function parseFirst(text: string): { readonly used: string; readonly variable?: Assignment } {
  const [line = ""] = text.split("\n", 1);
  const [head = "", name] = begin.exec(line) ?? [];
  if (name === undefined) return { used: line };
  const quote = quoted.exec(text.slice(head.length));
  if (quote === null) return { used: line, variable: { name, value: plain(line.slice(head.length)) } };
  const [whole, mark, value = ""] = quote;
  return { used: head + whole, variable: { name, value: mark === '"' ? unescaped(value) : value } };
}

/** A value without quotes ends at a comment. */
const plain = (text: string): string => text.replace(/(^|\s)#.*$/, "").trim();

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/gs, (whole, letter: string) => escapes[letter] ?? whole);

/**
 * The variables of a text that is pasted into a field for a name or a value; undefined if the text is a name or a value itself. A
 * value may look like one assignment (`a=b`), but a name cannot.
 */
export function pastedVariables(text: string, into: "name" | "value"): readonly Assignment[] | undefined {
  const { variables, unknownLines } = parseDotenv(text);
  const fewest = into === "name" ? 1 : 2;
  return unknownLines.length === 0 && variables.length >= fewest ? variables : undefined;
}
