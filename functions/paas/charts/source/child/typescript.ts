/** Strips types from TypeScript, and maps positions back to the original source. */
import { SourceMap, stripTypeScriptTypes } from "node:module";

/** JavaScript with a position mapping. */
export interface Stripped {
  readonly text: string;
  /** The original position of a position in `text`. Both count from 1. */
  origin(line: number, column: number): { readonly line: number; readonly column: number };
}

const unchanged = (text: string): Stripped => ({ text, origin: (line, column) => ({ line, column }) });

export const javascript = unchanged;

/** Throws a SyntaxError with the line in its stack. */
export function stripped(source: string): Stripped {
  try {
    // Types are replaced by blanks, so positions stay the same.
    return unchanged(stripTypeScriptTypes(source));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
  // Enums and parameter properties have to be transformed.
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
