/** TypeScript to JavaScript, and from lines of the one back to lines of the other. */
import { SourceMap, stripTypeScriptTypes } from "node:module";

/** JavaScript that Node can run. */
export interface Stripped {
  readonly text: string;
  /** Where a place in `text` comes from, both counted from 1. */
  origin(line: number, column: number): { readonly line: number; readonly column: number };
}

const asItStands = (text: string): Stripped => ({ text, origin: (line, column) => ({ line, column }) });

export const javascript = asItStands;

/** Throws a SyntaxError with the line in its stack. */
export function stripped(source: string): Stripped {
  try {
    // Blanks stand where types were, so that every line stays where it is.
    return asItStands(stripTypeScriptTypes(source));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
  // Enums and parameter properties are more than types.
  const text = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true, sourceUrl: "chart" });
  const encoded = text.slice(text.lastIndexOf("base64,") + "base64,".length);
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
  return {
    text,
    origin(line, column) {
      const found = map.findOrigin(line, column);
      return "lineNumber" in found
        ? { line: found.lineNumber, column: found.columnNumber }
        : { line, column };
    },
  };
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
