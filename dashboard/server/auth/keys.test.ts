import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConfigError } from "../../../bus/config/config.ts";
import { type Keys, openKeys, readKeys } from "./keys.ts";

const newKey = () => randomBytes(32).toString("base64");

let folder: string;
let path: string;
let keys: Keys | undefined;
let logged: { level: number; msg: string }[];
const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "denrei-keys-"));
  path = join(folder, "keys");
  logged = [];
});
afterEach(async () => {
  keys?.stop();
  await rm(folder, { recursive: true });
});

test("each line is a key, and equal keys have equal IDs", async () => {
  const [one, other] = [newKey(), newKey()];
  await writeFile(path, `${one}\n\n  ${other}\n${one}`);
  const [first, second, third] = await readKeys(path);
  expect(Buffer.from(first?.secret ?? []).toString("base64")).toBe(one);
  expect(third?.id).toBe(first?.id);
  expect(second?.id).not.toBe(first?.id);
});

test.each([
  ["no key", "\n", /^no session key in .*keys\. Create one: /],
  [
    "a short key",
    `${newKey()}\nc2hvcnQ=\n`,
    /^line 2 of .*keys is not a session key: expected 32 bytes in base64, found 5 bytes\. Create one: /,
  ],
])("rejects a file with %s, and says how to create one", async (_, text, message) => {
  await writeFile(path, text);
  const failed = expect(readKeys(path)).rejects;
  await failed.toThrow(message);
  await failed.toThrow("openssl rand -base64 32");
  await failed.toBeInstanceOf(ConfigError);
});

test("names a missing file", async () => {
  await expect(readKeys(path)).rejects.toThrow(path);
});

test("rereads the file of a mounted Secret that is replaced", async () => {
  // As the kubelet mounts it: the file is a link into a folder that is replaced as a whole.
  const version = async (name: string, text: string) => {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "keys"), text);
    await symlink(name, join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
  };
  const [old, newest] = [newKey(), newKey()];
  await version("..1", `${old}\n`);
  await symlink("..data/keys", path);
  keys = await openKeys(path, log, 5);
  const now = keys;
  const [before] = now();
  await version("..2", `${newest}\n${old}\n`);
  await vi.waitFor(() => expect(now()).toHaveLength(2), { timeout: 30_000 });
  expect(now()[1]).toEqual(before);
  expect(logged.map(({ msg }) => msg)).toEqual(["session keys changed"]);
});

test("keeps the keys while the file is invalid, and logs that once", async () => {
  await writeFile(path, newKey());
  keys = await openKeys(path, log, 5);
  const now = keys;
  const before = now();
  await writeFile(path, "");
  await vi.waitFor(() => expect(logged).not.toEqual([]), { timeout: 30_000 });
  expect(now()).toBe(before);
  await writeFile(path, newKey());
  await vi.waitFor(() => expect(now()).not.toEqual(before), { timeout: 30_000 });
  expect(logged.filter(({ level }) => level >= 50)).toHaveLength(1);
});
