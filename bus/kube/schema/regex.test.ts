import { expect, test } from "vitest";
import { z } from "zod";
import { re2Of, UntranslatableRegexError } from "./regex.ts";

const one = (regex: RegExp) => ({ matches: [regex.source], mismatches: [] });

test.each([
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  /^[-._a-zA-Z0-9]+\/\d{1,3}$/,
  /^a|b$/,
  /^[^a-z]*$/,
  /\bab\b/,
  z.regexes.email,
  z.regexes.ipv4,
  z.regexes.uuid(),
  z.regexes.date,
])("does not change %s", (regex) => {
  expect(re2Of(regex)).toEqual(one(regex));
});

test.each<[RegExp, string]>([
  [/^ab-1$/i, "^[Aa][Bb]-1$"],
  [/^[a-c_]$/i, "^[a-cABC_]$"],
  [/^é\u00b5-$/i, "^[\\x{C9}\\x{E9}][\\x{B5}\\x{39C}\\x{3BC}]-$"],
  [/^[éß]$/i, "^[\\x{E9}\\x{C9}\\x{DF}]$"],
  [/^é$/, "^\\x{E9}$"],
  [/^.$/u, "^[^\\n\\r\\x{2028}\\x{2029}]$"],
  [/^.$/su, "^[\\x{0}-\\x{10FFFF}]$"],
  [/^[\s\S]*$/, "^[\\x{0}-\\x{10FFFF}]*$"],
  [/\u00e9\x41\cA\0/, "\\x{E9}A\\x{1}\\x{0}"],
  [/\ud83d\ude00😀\u{1F600}/u, "\\x{1F600}\\x{1F600}\\x{1F600}"],
  [/[\b]/, "[\\x{8}]"],
  [/[[\]]/, "[\\[\\]]"],
  [/a{,3}]/, "a\\{,3\\}\\]"],
  [/(?<year>\d+)/, "(?:\\d+)"],
])("translates %s", (regex, expected) => {
  expect(re2Of(regex)).toEqual({ matches: [expected], mismatches: [] });
});

test("translates \\s, which has spaces beyond ASCII", () => {
  const [pattern = ""] = re2Of(/^\s$/).matches;
  const inJavaScript = new RegExp(pattern.replace(/\\x\{(\w+)\}/g, "\\u{$1}"), "u");
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  expect(all.filter((text) => inJavaScript.test(text))).toEqual(all.filter((text) => /^\s$/.test(text)));
});

test("folds every letter like the flag i", () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => code).filter(
    (code) => code < 0xd800 || code > 0xdfff,
  );
  const texts = all.map((code) => String.fromCharCode(code));
  const tried = texts.filter((text) => text.toUpperCase() !== text || text.toLowerCase() !== text);
  for (const text of [...tried, "\u017f", "\u212a", "1", "あ"]) {
    const [pattern = ""] = re2Of(new RegExp(`^${text}$`, "i")).matches;
    const others = [text.toLowerCase(), text.toUpperCase(), "s", "k", "\u1e9e", "\u03c2"];
    const translated = new RegExp(pattern.replace(/\\x\{(\w+)\}/g, "\\u{$1}"), "u");
    const written = new RegExp(`^${text}$`, "i");
    for (const other of others)
      expect([text, other, translated.test(other)]).toEqual([text, other, written.test(other)]);
  }
});

test("turns lookaheads after a leading ^ into separate patterns", () => {
  expect(re2Of(/^(?=.*[(\])])(?!b)(?:a|b)+$/su)).toEqual({
    matches: ["^(?:a|b)+$", "^(?:[\\x{0}-\\x{10FFFF}]*[(\\])])"],
    mismatches: ["^(?:b)"],
  });
});

test.each<[RegExp, string]>([
  [/a(?=b)/, "lookaround"],
  [/(?<=a)b/, "lookaround"],
  [/^(?=a)b|c/, "alternatives"],
  [/^(a)\1$/, "references"],
  [/^(?<a>a)\k<a>$/, "references"],
  [/^\p{L}$/u, "Unicode"],
  [/^a$/m, "flag m"],
  [/a/y, "flag y"],
  [/[a--b]/v, "flag v"],
  [/^a$/iu, "both cases"],
  [/^[^a]$/, "flag u"],
  [/^.+.+$/, "flag u"],
  [/^(.+)$/, "flag u"],
  [/^😀$/, "flag u"],
  [/^\W$/, "flag u"],
  [/[\S-]/u, "ranges"],
  [/a{1001}/, "1000"],
  [/(?:a{100}){11}/, "1000"],
  [RegExp(["\\", "a"].join("")), "backslash"],
  [/\ud83d/, "surrogate"],
])("rejects %s", (regex, message) => {
  expect(() => re2Of(regex)).toThrow(UntranslatableRegexError);
  expect(() => re2Of(regex)).toThrow(message);
});
