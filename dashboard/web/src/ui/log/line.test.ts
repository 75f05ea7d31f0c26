/** Parsing log lines, hostile ones too. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLine } from "./line.ts";

const esc = "\u001b";
/** The classes or colors of each run. */
const styles = (raw: string) =>
  parseLine(raw).runs.map(({ text, style }) => [
    text,
    style?.classes || style?.css.color || style?.css.backgroundColor,
  ]);

describe("color sequences", () => {
  test.each([
    [
      `a${esc}[31mb${esc}[0mc`,
      [
        ["a", undefined],
        ["b", "fg-1"],
        ["c", undefined],
      ],
    ],
    [
      `${esc}[1;92;41mx${esc}[22;39my${esc}[49mz`,
      [
        ["x", "bold fg-10 bg-1"],
        ["y", "bg-1"],
        ["z", undefined],
      ],
    ],
    [
      `${esc}[38;5;9ma${esc}[48:5:1mb${esc}[mc`,
      [
        ["a", "fg-9"],
        ["b", "fg-9 bg-1"],
        ["c", undefined],
      ],
    ],
    [
      `${esc}[38;2;255;200;0ma${esc}[38:2::0:255:255mb`,
      [
        ["a", "rgb(255 200 0)"],
        ["b", "rgb(0 255 255)"],
      ],
    ],
    [`${esc}[38:2:0:255:255mb`, [["b", "rgb(0 255 255)"]]],
    [
      `${esc}[4:0;3ma${esc}[4:3;23mb`,
      [
        ["a", "italic"],
        ["b", "underline"],
      ],
    ],
    [
      `${esc}[7ma${esc}[31mb${esc}[42mc`,
      [
        ["a", "bg-7"],
        ["b", "bg-1"],
        ["c", "fg-2 bg-1"],
      ],
    ],
    [`\u009b31ma`, [["a", "fg-1"]]],
    // A later parameter is not one of an incomplete color.
    [
      `${esc}[38;5ma${esc}[38;9;1mb`,
      [
        ["a", undefined],
        ["b", "bold"],
      ],
    ],
    [`${esc}[38;5;300ma${esc}[38;2;1;2mb${esc}[99999999999mc`, [["abc", undefined]]],
    // Hidden and blinking text is plain text.
    [`${esc}[8ma${esc}[5mb`, [["ab", undefined]]],
  ])("%j", (raw, runs) => {
    expect(styles(raw)).toEqual(runs);
  });

  test("cannot make a line of many elements", () => {
    const { runs, text } = parseLine(`${esc}[31ma${esc}[32mb`.repeat(1000));
    expect(runs.length).toBeLessThanOrEqual(200);
    expect(text).toBe("ab".repeat(1000));
  });
});

test.each([
  ["cursor movements", `a${esc}[2K${esc}[1Gb${esc}(Bc${esc}[?25l`, "abc"],
  ["links, whose text stays", `${esc}]8;;https://a.example${esc}\\text${esc}]8;;\u0007`, "text"],
])("drops %s", (_, raw, text) => {
  expect(parseLine(raw).text).toBe(text);
});

test.each([
  ["a bell and a zero", "a\u0007\u0000", "a\\x07\\x00"],
  ["a backspace", "evil\b\b\b\bgood", "evil\\x08\\x08\\x08\\x08good"],
  ["a sequence without an end", `${esc}]0;the rest`, "\\x1b]0;the rest"],
  ["a title", `${esc}]0;title\u0007a`, "\\x1b]0;title\\x07a"],
  ["a string with text", `${esc}_hidden${esc}\\a`, "\\x1b_hidden\\x1b\\a"],
  ["a lone escape", `a${esc}`, "a\\x1b"],
  ["reversed text", "user\u202etxt.exe\u2069", "user\\u202etxt.exe\\u2069"],
  ["characters without width", "pass\u200bword\ufeff\u00ad", "pass\\u200bword\\ufeff\\xad"],
  ["tags that spell text", "a\u{e0041}", "a\\u{e0041}"],
  ["separators of lines", "a\u2028b\u0085c", "a\\u2028b\\x85c"],
  ["a joiner of nothing", "a\u200db", "a\\u200db"],
])("shows %s as an escape", (_, raw, text) => {
  expect(parseLine(raw).text).toBe(text);
});

test.each(["", "plain\ttext \\x1b", "寿司 🍣 👨‍👩‍👧 ❤️ 👩🏽‍🚀", "שלום مرحبا", "e\u0301", "<b>&amp;</b>"])(
  "keeps %j",
  (raw) => {
    expect(parseLine(raw).text).toBe(raw);
  },
);

test.each([
  ["10 %\r50 %\r100 %", "100 %"],
  ["done\r", "done"],
  [`${esc}[32m10 %\r${esc}[K20 %`, "20 %"],
  ["\r", ""],
])("keeps what a program wrote last: %j", (raw, text) => {
  expect(parseLine(raw).text).toBe(text);
});

test("any line becomes visible text, and its runs are the text", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.constantFrom(
      esc,
      `${esc}[`,
      `${esc}]`,
      "\u009b",
      "31m",
      "38;5;1m",
      ";",
      ":",
      "\r",
      "\u202e",
      "\u200d",
      "m",
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const { text, runs } = parseLine(parts.join(""));
      expect(runs.map((run) => run.text).join("")).toBe(text);
      expect(text).not.toMatch(/(?!\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      for (const { style } of runs) expect(style?.classes ?? "").toMatch(/^[a-z0-9 -]*$/);
    }),
    { numRuns: 500 },
  );
});
