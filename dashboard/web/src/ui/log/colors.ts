/** Colors of log text. Any text is readable on any ground: WCAG 2.2 asks for a contrast of 4.5. */

/** One of the 16 named colors, which are classes in `style/logs.css`, or red, green, and blue from 0 to 255. */
export type Color = number | readonly [red: number, green: number, blue: number];

/** Luminance of the darkest text and of the lightest ground, whose contrast is (0.36 + 0.05) / (0.041 + 0.05). */
const minTextLuminance = 0.36;
const maxGroundLuminance = 0.041;

/** The steps of the 6×6×6 cube of xterm. */
const levels = [0, 95, 135, 175, 215, 255] as const;
const level = (at: number): number => levels[at % 6] ?? 0;

/** A color of the palette of 256. Undefined for another number. https://en.wikipedia.org/wiki/ANSI_escape_code#8-bit */
export function paletteColor(index: number): Color | undefined {
  if (!Number.isInteger(index) || index < 0 || index > 255) return undefined;
  if (index < 16) return index;
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return [gray, gray, gray];
  }
  const at = index - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6)), level(at)];
}

type Rgb = Exclude<Color, number>;

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
export function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number) => (part <= 10.31475 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

const steps = 32;

/** Mixes a color with white or black until it fits. */
function mixed(color: Rgb, other: number, fits: (mixed: Rgb) => boolean): string {
  for (let step = 0; ; step++) {
    const mix = (part: number) => Math.round(part + ((other - part) * step) / steps);
    const [red, green, blue] = color;
    const found = [mix(red), mix(green), mix(blue)] as const;
    if (step === steps || fits(found)) return `rgb(${found.join(" ")})`;
  }
}

/** The color as CSS for text, lighter if necessary. */
export const textColor = (color: Rgb): string =>
  mixed(color, 255, (found) => luminance(found) >= minTextLuminance);

/** The color as CSS for the ground, darker if necessary. */
export const groundColor = (color: Rgb): string =>
  mixed(color, 0, (found) => luminance(found) <= maxGroundLuminance);
