import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { redacted, redactedLine, redactedValue, redactorOf } from "./redact.ts";

/** Without `size`, fast-check rarely generates arrays longer than ten. */
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
/** Shrinking texts of this length takes minutes. */
const once = { endOnFailure: true };
const credential = fc.oneof(token, jwt, key);
/** Text around credentials, without characters that would become part of one. */
const around = fc.string({ unit: fc.constantFrom(..." \n\t'\":;,/@=&?(){}[]<>é漢\0%") });

test("redaction - removes a credential of any length and keeps the text around it", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(around, credential)), around, (parts, end) => {
      const separated = parts.map(([before, secret]) => [`${before} `, secret] as const);
      const text = `${separated.flat().join("")} ${end}`;
      expect(redacted(text)).toBe(`${separated.map(([before]) => `${before}***`).join("")} ${end}`);
    }),
    once,
  );
});

test("redaction - removes the whole credential, whatever precedes it", () => {
  fc.assert(
    fc.property(fc.string(), credential, (before, secret) => {
      const found = redacted(`${before}${secret}`);
      expect(found).toMatch(/\*\*\*$/);
      expect(redacted(found)).toBe(found);
      expect(found.length).toBeLessThanOrEqual(before.length + 3);
    }),
    once,
  );
});

test("redaction - removes the long form of an installation token from a URL, a header, and JSON", () => {
  const long = `ghs_123456_eyJ${"aB3-_".repeat(40)}.eyJ${"cD4".repeat(60)}.${"e_F-".repeat(36)}`;
  expect(long.length).toBeGreaterThan(520);
  expect(redacted(`git clone https://x-access-token:${long}@github.com/o/r.git`)).toBe(
    "git clone https://***@github.com/o/r.git",
  );
  expect(redacted(`Authorization: Bearer ${long}\r\nHost: a`)).toBe("Authorization: Bearer ***\r\nHost: a");
  expect(redacted(JSON.stringify({ token: long, id: 1 }))).toBe('{"token":"***","id":1}');
});

test("redaction - removes a key without its end up to the end of the text", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
  expect(redacted(`key: ${pem.slice(0, 700)}`)).toBe("key: ***");
  expect(redacted(`key: ${pem}rest ${pem}`)).toBe("key: ***\nrest ***\n");
});

test("redaction - does not change other texts", () => {
  const texts = [
    "GET /app was answered 404",
    "a ghs_ prefix",
    "sha256:0a1b2c",
    "a.b.c",
    "eyJ is no JWT",
    "-----BEGIN PUBLIC KEY-----",
    "expected the key password in the Secret acme-web",
    "https://registry.example.com/acme/web@sha256:0a1b",
    "the label denrei.dev/secrets=true; mail octocat@example.com",
    '{"name":"token","authors":"a"}',
    "authorization is missing",
  ];
  for (const text of texts) expect(redacted(text)).toBe(text);
});

test("redaction - is fast on long texts", () => {
  const before = process.cpuUsage();
  for (const part of [
    "://",
    '"',
    "authorization:",
    "token=",
    "token",
    "eyJ",
    "ghs_",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "eyJ.",
    "a.",
  ])
    redacted(part.repeat(100_000));
  // CPU time of this process, so that a busy machine does not matter.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(5000);
});

test.each([
  ["fatal: Authentication failed for 'https://robot:hunter2@git.example.com/a.git/'", "hunter2"],
  ["> Authorization: Basic cm9ib3Q6aHVudGVyMg==\n> Host: a", "cm9ib3Q6"],
  ["curl -H 'authorization: bearer abc.def' https://a", "abc.def"],
  [String.raw`{"headers":"{\"Authorization\":\"token abcdef\"}"}`, "abcdef"],
  ["NPM_TOKEN=hunter2 npm ci", "hunter2"],
  ["psql failed: PGPASSWORD='hunter 2' psql", "hunter 2"],
  ["GET https://a/?access_token=hunter2&page=1", "hunter2"],
  ['{"auths":{"ghcr.io":{"username":"robot","password":"hunter2","auth":"cm9ib3Q6"}}}', "hunter2"],
  ['{"auths":{"ghcr.io":{"auth":"cm9ib3Q6aHVudGVyMg=="}}}', "cm9ib3Q6"],
  [`//registry.example.com/:_authToken=npm_${"a1".repeat(18)}`, "npm_a1"],
  [`npm_${"a1".repeat(18)} is no longer good`, "a1a1"],
  ["AKIAIOSFODNN7EXAMPLE", "EXAMPLE"],
])("redaction - %j is shown without the credential", (text, secret) => {
  expect(redacted(text)).not.toContain(secret);
  expect(redacted(text)).toContain("***");
  expect(redacted(redacted(text))).toBe(redacted(text));
});

test("redaction - redacts each text of an object, and returns the same object if there is no credential", () => {
  const status = {
    log: "a ghs_123abc",
    steps: [{ message: "fine" }, { message: "ghp_1" }],
    count: 1,
    none: null,
  };
  expect(redactedValue(status)).toEqual({
    log: "a ***",
    steps: [{ message: "fine" }, { message: "***" }],
    count: 1,
    none: null,
  });
  const clean = { log: "a", steps: [{ message: "fine" }], count: 1 };
  expect(redactedValue(clean)).toBe(clean);
});

test("redaction - keeps a line of a log valid JSON", () => {
  const line = `${JSON.stringify({ url: "nats://u:p@h", err: { message: "-----BEGIN PRIVATE KEY-----\nabc" }, b: "x@y" })}\n`;
  expect(redactedLine(line)).toBe(
    `${JSON.stringify({ url: "nats://***@h", err: { message: "***" }, b: "x@y" })}\n`,
  );
  expect(redactedLine('{"a":1}\n')).toBe('{"a":1}\n');
});

test("redaction - removes values of fields with secret names, in an object and in a line of a log", () => {
  const fields = {
    password: "hunter2",
    registryPassword: ["hunter2", ""],
    clientSecret: "hunter2",
    api_key: "hunter2",
    auth: "hunter2",
    headers: { Authorization: "Bearer hunter2" },
  };
  const without = {
    password: "***",
    registryPassword: ["***", ""],
    clientSecret: "***",
    api_key: "***",
    auth: "***",
    headers: { Authorization: "***" },
  };
  expect(redactedValue([fields])).toEqual([without]);
  expect(redactedValue(without)).toBe(without);
  expect(redactedLine(`${JSON.stringify({ ...fields, secret: "hunter2" })}\n`)).toBe(
    `${JSON.stringify({ ...without, secret: "***" })}\n`,
  );
});

test("redaction - keeps fields that name a Secret or a key of one", () => {
  const status = {
    secret: "acme-web",
    secretName: "acme-web",
    passwordKey: "password",
    privateKeySecretRef: { name: "gh-app-key", key: "private-key.pem" },
    token: { secretName: "acme-web", expires: 3600 },
    tokens: 3,
    authors: ["a"],
  };
  expect(redactedValue(status)).toBe(status);
});

test("redaction - removes known values in every form, except short ones", () => {
  const redact = redactorOf(["p&ss word", "abc", "p&ss", ""]);
  const base64 = Buffer.from("p&ss word").toString("base64");
  expect(redact(`p&ss word, ${base64}, p%26ss%20word, abc`)).toBe("***, ***, ***, abc");
});
