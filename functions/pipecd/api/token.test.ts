import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type TokenOptions, webToken } from "./token.ts";

const now = Date.parse("2026-01-02T03:04:05.678Z");
const seconds = Date.parse("2026-01-02T03:04:05Z") / 1000;
const encryptionKey = Buffer.from("encryption-key-just-used-for-quickstart");

const tokenOf = (more: Partial<TokenOptions> = {}): string =>
  webToken({ profile: "C", projectID: "quickstart", encryptionKey, now, ...more });
const partsOf = (token: string): readonly [string, string, string] => {
  const [header, claims, signature, ...others] = token.split(".");
  if (header === undefined || claims === undefined || signature === undefined || others.length > 0)
    throw new Error(`expected three parts, found ${token}`);
  return [header, claims, signature];
};
const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
const claimsOf = (token: string): unknown => read(partsOf(token)[1]);
const isSignedWith = (token: string, key: Uint8Array): boolean => {
  const [header, claims, signature] = partsOf(token);
  return createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url") === signature;
};

test("signs the token with HS256", () => {
  const token = tokenOf();
  expect(read(partsOf(token)[0])).toEqual({ alg: "HS256", typ: "JWT" });
  expect(isSignedWith(token, encryptionKey)).toBe(true);
});

describe("signs with all bytes of the key", () => {
  const awkward = Buffer.concat([Buffer.from(" \n"), Buffer.alloc(32, 0xff), Buffer.from("\0\r\n")]);
  test.each([
    ["without its last byte", awkward.subarray(0, -1)],
    ["without trailing white space", awkward.subarray(0, -2)],
    ["without leading white space", awkward.subarray(2)],
    ["its first 32 bytes", awkward.subarray(0, 32)],
    ["as text", Buffer.from(awkward.toString())],
  ])("and not %s", (_, other) => {
    const token = tokenOf({ encryptionKey: awkward });
    expect(isSignedWith(token, awkward)).toBe(true);
    expect(isSignedWith(token, other)).toBe(false);
  });
});

test.each([
  ["L0", { project_id: "quickstart", project_role: 2 }],
  ["C", { project_id: "quickstart", project_rbac_roles: ["Admin"] }],
] as const)("the role is a number up to v0.9.0 and a list of names from v0.37.1: %s", (profile, role) => {
  expect(claimsOf(tokenOf({ profile }))).toEqual({
    iss: "PipeCD",
    sub: expect.stringMatching(/./),
    iat: seconds - 30,
    nbf: seconds - 30,
    exp: seconds + 3600,
    role,
  });
});

test("a token is valid for an hour, and on a clock that is 30 seconds slow", () => {
  const { iat, nbf, exp } = claimsOf(tokenOf()) as Record<"iat" | "nbf" | "exp", number>;
  for (const time of [iat, nbf, exp]) expect(Number.isInteger(time)).toBe(true);
  expect(Math.max(iat, nbf)).toBeLessThanOrEqual(seconds - 30);
  expect(exp).toBeGreaterThan(seconds);
});

test("a token has only characters that a cookie can have", () => {
  for (const projectID of ["quickstart", 'a"; b=c', "プロジェクト"]) {
    const token = tokenOf({ projectID });
    expect(token).toMatch(/^[-_.A-Za-z0-9]+$/);
    expect(claimsOf(token)).toMatchObject({ role: { project_id: projectID } });
  }
});
