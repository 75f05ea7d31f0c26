import fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "./plaintext.ts";

test.each([
  ["plain text", "Fix the login", "Fix the login"],
  ["markup", "<b>Fix</b> & more", "<b>Fix</b> & more"],
  ["lines and controls", "\tFix\r\nthe\u001b[31m\u2028login\u0000", "Fix the [31m login"],
  ["reversed text", "user\u202Etxt.exe\u2069", "usertxt.exe"],
  ["hidden text", "Fix\u{E0041}\u200B\u00AD the login", "Fix the login"],
  ["emoji", "👩‍💻 ❤️", "👩‍💻 ❤️"],
  ["joiners of scripts", "می‌خواهم", "می‌خواهم"],
  ["half a character", "a\uD800", "a\uFFFD"],
])("shows %s safely", (_, text, shown) => {
  expect(plainText(text, 40)).toBe(shown);
});

test("cuts long text between characters", () => {
  expect(plainText("😀".repeat(5), 5)).toBe("😀".repeat(5));
  expect(plainText("😀".repeat(6), 5)).toBe(`${"😀".repeat(4)}…`);
});

test("is short, one line, and the same when applied again, whatever the text", () => {
  const unit = fc.constantFrom("a", " ", "\n", "\u202E", "\u200B", "\u200D", "😀", "\uD800");
  fc.assert(
    fc.property(fc.string({ unit }), fc.integer({ min: 1, max: 50 }), (text, longest) => {
      const shown = plainText(text, longest);
      expect([...shown].length).toBeLessThanOrEqual(longest);
      expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect(plainText(shown, longest)).toBe(shown);
    }),
  );
});
