import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Key } from "./keys.ts";
import { sealer } from "./sealer.ts";

const newKey = (id: string): Key => ({ id, secret: new Uint8Array(randomBytes(32)) });
const [a, b] = [newKey("a"), newKey("b")];
const cookie = { name: "cookie session" };

test("decrypts its own output", async () => {
  const { seal, open } = sealer(() => [a], cookie);
  expect(await open(await seal("a text: ü"))).toEqual({ text: "a text: ü", by: "first" });
});

test("an older key still decrypts, and a removed one does not", async () => {
  const sealed = await sealer(() => [a], cookie).seal("text");
  expect(await sealer(() => [b, a], cookie).open(sealed)).toEqual({ text: "text", by: "older" });
  expect(await sealer(() => [b], cookie).open(sealed)).toBeUndefined();
  const impostor: Key = { id: a.id, secret: b.secret };
  expect(await sealer(() => [impostor], cookie).open(sealed)).toBeUndefined();
});

test("data for one purpose cannot be opened for another", async () => {
  const keys = () => [a];
  const sealed = await sealer(keys, cookie).seal("text");
  expect(await sealer(keys, { name: "cookie login" }).open(sealed)).toBeUndefined();
  expect(await sealer(keys, { ...cookie, secret: "of a session" }).open(sealed)).toBeUndefined();
});

test("detects a change of any character", async () => {
  const { seal, open } = sealer(() => [a], cookie);
  const sealed = await seal(JSON.stringify({ id: "of a session" }));
  const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/=% é\0";
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: sealed.length - 1 }),
      fc.constantFrom(...characters),
      fc.constantFrom("replace", "insert", "cut"),
      async (at, letter, how) => {
        fc.pre(how !== "replace" || sealed[at] !== letter);
        const behind = how === "insert" ? sealed.slice(at) : sealed.slice(at + 1);
        const changed = how === "cut" ? sealed.slice(0, at) : sealed.slice(0, at) + letter + behind;
        expect(await open(changed)).toBeUndefined();
      },
    ),
    { numRuns: 2000 },
  );
});

test("detects a change of the unused bits of a part's last character", async () => {
  const { seal, open } = sealer(() => [a], cookie);
  const sealed = await seal("text");
  // 16 bytes in 22 characters: the last four bits are unused.
  const [last = ""] = sealed.slice(-1);
  const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const other = characters[characters.indexOf(last) ^ 1];
  expect(Buffer.from(`${sealed.slice(0, -1)}${other}`.split(".")[4] ?? "", "base64url")).toEqual(
    Buffer.from(sealed.split(".")[4] ?? "", "base64url"),
  );
  expect(await open(`${sealed.slice(0, -1)}${other}`)).toBeUndefined();
});
