/** Saves the lines of a log as a text file. */
import { type Chunk, linesOf } from "./chunks.ts";

/** A line as text: its time in UTC, its container if there are several, and its text. */
function textOf(chunks: readonly Chunk[], sources: boolean): string {
  const lines = linesOf(chunks).map(({ at, source, text, isCut }) =>
    [at, sources && source.id, `${text}${isCut ? "…" : ""}`].filter(
      (part) => part !== undefined && part !== false,
    ),
  );
  return lines.map((parts) => `${parts.join(" ")}\n`).join("");
}

/** Has the browser save the lines. The name of the file begins with `name` and has the time. */
export function download(name: string, chunks: readonly Chunk[], sources: boolean): void {
  const url = URL.createObjectURL(new Blob([textOf(chunks, sources)], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z.log`;
  link.click();
  URL.revokeObjectURL(url);
}
