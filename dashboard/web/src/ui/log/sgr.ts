/** Applies SGR sequences, which color text. https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
import type { CONTROL_CODE } from "@ansi-tools/parser";
import { type Color, groundColor, paletteColor, textColor } from "./colors.ts";

/** What a terminal would remember. Blinking and hidden text are left out: a log hides nothing. */
export interface Rendition {
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
  readonly text?: Color | undefined;
  readonly ground?: Color | undefined;
}

/** How an element shows a rendition. */
export interface RunStyle {
  readonly classes: string;
  /** Colors without a class. */
  readonly css: { readonly color?: string; readonly backgroundColor?: string };
}

const changes: Readonly<Record<number, Rendition>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { text: undefined },
  49: { ground: undefined },
};

/** The rendition after an SGR sequence. */
export function rendered(before: Rendition, { params, parameterGroups }: CONTROL_CODE): Rendition {
  // `38:5:1` is one group, and `38;5;1` is three parameters.
  const groups = parameterGroups ?? params.map((param) => [param]);
  let after = groups.length === 0 ? {} : before;
  for (let at = 0; at < groups.length; at++) {
    const [code = 0, ...rest] = (groups[at] ?? []).map(Number);
    if (code === 38 || code === 48) {
      const isGroup = rest.length > 0;
      const following = isGroup ? rest : groups.slice(at + 1, at + 5).map(([param]) => Number(param));
      const { color, used } = extendedColor(following);
      after = { ...after, [code === 38 ? "text" : "ground"]: color };
      if (!isGroup) at += used;
    } else after = code === 4 && rest[0] === 0 ? { ...after, underline: false } : applied(after, code);
  }
  return after;
}

function applied(before: Rendition, code: number): Rendition {
  if (code === 0) return {};
  if (code >= 30 && code <= 37) return { ...before, text: code - 30 };
  if (code >= 90 && code <= 97) return { ...before, text: code - 90 + 8 };
  if (code >= 40 && code <= 47) return { ...before, ground: code - 40 };
  if (code >= 100 && code <= 107) return { ...before, ground: code - 100 + 8 };
  return { ...before, ...changes[code] };
}

const isPart = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 255;

/** The color after 38 or 48, and the number of parameters that it takes. */
function extendedColor([mode, ...rest]: readonly number[]): { color: Color | undefined; used: number } {
  if (mode === 5) return { color: paletteColor(rest[0] ?? Number.NaN), used: 2 };
  if (mode !== 2) return { color: undefined, used: 1 };
  // A group may have the number of a color space before the three parts.
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = rest.length > 3 ? rest.slice(1) : rest;
  return { color: [red, green, blue].every(isPart) ? [red, green, blue] : undefined, used: 4 };
}

const flags = ["bold", "dim", "italic", "underline", "strike"] as const;
/** The ground of inverse text without a color of its own: gray. */
const inverseGround = 7;

/** The style for a rendition; undefined for plain text. */
export function styleOf(rendition: Rendition): RunStyle | undefined {
  const { inverse, dim } = rendition;
  const [text, ground] = inverse
    ? [rendition.ground, rendition.text ?? inverseGround]
    : [rendition.text, rendition.ground];
  const classes: string[] = flags.filter(
    (flag) => rendition[flag] && !(dim && flag === "dim" && text !== undefined),
  );
  if (typeof text === "number") classes.push(`fg-${text}`);
  if (typeof ground === "number") classes.push(`bg-${ground}`);
  const css = {
    ...(typeof text === "object" && { color: textColor(text) }),
    ...(typeof ground === "object" && { backgroundColor: groundColor(ground) }),
  };
  return classes.length === 0 && Object.keys(css).length === 0
    ? undefined
    : { classes: classes.join(" "), css };
}
