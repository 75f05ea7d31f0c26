/** Any text is readable on any ground. */
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { groundColor, luminance, paletteColor, textColor } from "./colors.ts";

const css = await readFile(new URL("../../style/logs.css", import.meta.url), "utf8");
const minContrast = 4.5;

type Rgb = readonly [number, number, number];
const hex = (color: string): Rgb => {
  const [red = 0, green = 0, blue = 0] =
    color.match(/[0-9a-f]{2}/g)?.map((part) => Number.parseInt(part, 16)) ?? [];
  return [red, green, blue];
};
const rgb = (color: string): Rgb => {
  const [red = 0, green = 0, blue = 0] = color.match(/\d+/g)?.map(Number) ?? [];
  return [red, green, blue];
};
const found = (pattern: RegExp): Rgb[] => [...css.matchAll(pattern)].map(([, color = ""]) => hex(color));
/** Of the classes, of dim text, and of plain text. */
const texts = found(/(?:\.fg-\d+|\.dim|\.log) \{[^}]*\bcolor: (#[0-9a-f]{6});/g);
const grounds = [...found(/\.bg-\d+ \{\s*background: (#[0-9a-f]{6});/g), hex("#12151b"), hex("#0d0f13")];

const contrast = (text: Rgb, ground: Rgb): number => (luminance(text) + 0.05) / (luminance(ground) + 0.05);

test("the classes exist, and each text has enough contrast on each ground", () => {
  const classes = [...css.matchAll(/\.((?:fg|bg)-\d+)\b/g)].map(([, name]) => name);
  const named = (kind: string) => Array.from({ length: 16 }, (_, index) => `${kind}-${index}`);
  expect(classes.sort()).toEqual([...named("fg"), ...named("bg")].sort());
  expect([texts.length, grounds.length]).toEqual([18, 11]);
  for (const text of texts)
    for (const ground of grounds)
      expect([text, ground, contrast(text, ground) >= minContrast]).toEqual([text, ground, true]);
});

test("other colors get enough contrast with all of them", () => {
  const part = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (one, other) => {
      const [text, ground] = [rgb(textColor(one)), rgb(groundColor(other))];
      for (const any of [...grounds, ground]) expect(contrast(text, any)).toBeGreaterThanOrEqual(minContrast);
      for (const any of texts) expect(contrast(any, ground)).toBeGreaterThanOrEqual(minContrast);
    }),
  );
  expect(textColor([255, 200, 0])).toBe("rgb(255 200 0)");
  expect(groundColor([0, 0, 80])).toBe("rgb(0 0 80)");
});

test("the palette has named colors, a cube, and grays", () => {
  expect([0, 15, 16, 21, 196, 231, 232, 255].map(paletteColor)).toEqual([
    0,
    15,
    [0, 0, 0],
    [0, 0, 255],
    [255, 0, 0],
    [255, 255, 255],
    [8, 8, 8],
    [238, 238, 238],
  ]);
  expect([-1, 256, 1.5, Number.NaN].map(paletteColor)).toEqual([undefined, undefined, undefined, undefined]);
});
