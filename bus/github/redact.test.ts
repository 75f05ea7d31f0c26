import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { redactTokens } from "./redact.ts";

/** Without `size`, fast-check hardly makes any that are longer than ten. */
const letters = (unit: string, minLength: number) =>
  fc.string({ unit: fc.constantFrom(...unit), minLength, maxLength: 2000, size: "max" });
const word = letters("abcXYZ0129", 1);
const base64url = (minLength = 1) => letters("abcXYZ0129_-", minLength);
const jwt = fc.tuple(base64url(), base64url(), base64url(0)).map((parts) => `eyJ${parts.join(".")}`);
const token = fc
  .tuple(
    fc.constantFrom("ghs_", "ghp_", "gho_", "ghu_", "ghr_", "github_pat_"),
    fc.oneof(
      word,
      base64url(),
      fc.tuple(fc.nat(), jwt).map(([app, it]) => `${app}_${it}`),
    ),
  )
  .map((parts) => parts.join(""));
const key = fc
  .tuple(
    fc.constantFrom("RSA ", "EC ", "ENCRYPTED ", "OPENSSH ", ""),
    fc.array(word),
    fc.constantFrom("\n", "\\n", "\r\n"),
  )
  .map(([kind, lines, end]) => {
    const label = `${kind}PRIVATE KEY-----`;
    return [`-----BEGIN ${label}`, ...lines, `-----END ${label}`].join(end);
  });
/** Making texts of this length smaller takes minutes. */
const once = { endOnFailure: true };
const credential = fc.oneof(token, jwt, key);
/** What stands around credentials, without letters that would be part of one. */
const around = fc.string({ unit: fc.constantFrom(..." \n\t'\":;,/@=&?(){}[]<>é漢\0%") });

test("redaction - a credential of any length goes, and what is around it stays", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(around, credential)), around, (parts, end) => {
      const separated = parts.map(([before, secret]) => [`${before} `, secret] as const);
      const text = `${separated.flat().join("")} ${end}`;
      expect(redactTokens(text)).toBe(`${separated.map(([before]) => `${before}***`).join("")} ${end}`);
    }),
    once,
  );
});

test("redaction - nothing of a credential is left whatever stands before it", () => {
  fc.assert(
    fc.property(fc.string(), credential, (before, secret) => {
      const found = redactTokens(`${before}${secret}`);
      expect(found).toMatch(/\*\*\*$/);
      expect(redactTokens(found)).toBe(found);
      expect(found.length).toBeLessThanOrEqual(before.length + 3);
    }),
    once,
  );
});

test("redaction - the long form of an installation token goes whole, in a URL, a header and JSON", () => {
  const long = `ghs_123456_eyJ${"aB3-_".repeat(40)}.eyJ${"cD4".repeat(60)}.${"e_F-".repeat(36)}`;
  expect(long.length).toBeGreaterThan(520);
  expect(redactTokens(`git clone https://x-access-token:${long}@github.com/o/r.git`)).toBe(
    "git clone https://x-access-token:***@github.com/o/r.git",
  );
  expect(redactTokens(`Authorization: Bearer ${long}\r\nHost: a`)).toBe(
    "Authorization: Bearer ***\r\nHost: a",
  );
  expect(redactTokens(JSON.stringify({ token: long, id: 1 }))).toBe('{"token":"***","id":1}');
});

test("redaction - a key that has lost its end goes to the end of the text", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
  expect(redactTokens(`key: ${pem.slice(0, 700)}`)).toBe("key: ***");
  expect(redactTokens(`key: ${pem}rest ${pem}`)).toBe("key: ***\nrest ***\n");
});

test("redaction - other texts stay as they are", () => {
  const texts = [
    "GET /app was answered 404",
    "a ghs_ prefix",
    "sha256:0a1b2c",
    "a.b.c",
    "eyJ is no JWT",
    "-----BEGIN PUBLIC KEY-----",
  ];
  for (const text of texts) expect(redactTokens(text)).toBe(text);
});

test("redaction - a long text takes no long time", () => {
  const started = performance.now();
  for (const part of ["eyJ", "ghs_", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "eyJ.", "a."])
    redactTokens(part.repeat(100_000));
  expect(performance.now() - started).toBeLessThan(5000);
});
