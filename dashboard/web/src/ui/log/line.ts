/**
 * Parses the text of a log line, which may be hostile: no text hides, moves, or imitates other text. Color sequences become styles.
 * Sequences that only move a cursor are dropped. All other characters that have no shape of their own are shown as escapes.
 */
import { type CONTROL_CODE, parse } from "@ansi-tools/parser";
import { type Rendition, type RunStyle, rendered, styleOf } from "./sgr.ts";

/** Text of one style. */
export interface Run {
  readonly text: string;
  readonly style?: RunStyle | undefined;
}

/** A line as the page shows it. */
export interface ParsedLine {
  /** The text of all runs. */
  readonly text: string;
  readonly runs: readonly Run[];
}

/** More elements per line would make the page slow. The rest of the line has the last style. */
const maxRuns = 200;

/**
 * Controls, characters without width, and those that change the direction of text. Kept: tabs, and the selectors and joiners of
 * emoji.
 */
const unprintable =
  /(?!\t|\uFE0E|\uFE0F)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;
const allUnprintable = new RegExp(
  `(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F](?=\\u200D))${unprintable.source}`,
  "gu",
);

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}

const visible = (text: string): string => text.replace(allUnprintable, escaped);

/** Parses a line. Styles end with their line, because the line that resets a style may be missing or from another stream. */
export function parseLine(raw: string): ParsedLine {
  if (!unprintable.test(raw)) return { text: raw, runs: [{ text: raw }] };
  const runs: { text: string; style: RunStyle | undefined }[] = [];
  let rendition: Rendition = {};
  let style: RunStyle | undefined;
  let isRewritten = false;
  const add = (text: string) => {
    if (text === "") return;
    if (isRewritten) runs.length = 0;
    isRewritten = false;
    const last = runs.at(-1);
    if (last !== undefined && (last.style === style || runs.length === maxRuns)) last.text += visible(text);
    else runs.push({ text: visible(text), style });
  };
  for (const code of parse(raw)) {
    if (code.type === "TEXT")
      code.raw.split("\r").forEach((part, index) => {
        // A program that shows its progress returns to the start of the line, and writes the line again.
        isRewritten ||= index > 0;
        add(part);
      });
    else if (code.type === "CSI" && code.command === "m") {
      rendition = rendered(rendition, code);
      style = styleOf(rendition);
    } else if (!isDropped(code)) add(code.raw);
  }
  return { text: runs.map(({ text }) => text).join(""), runs };
}

const terminators = ["\u0007", "\u001b\\", "\u009c"];

/** Whether a sequence is complete and contains no text. Links keep their text, and lose their address. */
function isDropped({ type, command, raw }: CONTROL_CODE): boolean {
  if (type === "OSC") return command === "8" && terminators.some((terminator) => raw.endsWith(terminator));
  return ["CSI", "DEC", "PRIVATE", "ESC"].includes(type) && command !== "" && /[0-~]$/.test(raw);
}
