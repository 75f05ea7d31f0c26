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

test("each line is a key, and one that is there twice is named the same", async () => {
  const [one, other] = [newKey(), newKey()];
  await writeFile(path, `${one}\n\n  ${other}\n${one}`);
  const [first, second, third] = await readKeys(path);
  expect(Buffer.from(first?.secret ?? []).toString("base64")).toBe(one);
  expect(third?.id).toBe(first?.id);
  expect(second?.id).not.toBe(first?.id);
});

test.each([
  ["nothing", "\n", /expected a key in .*found none/],
  ["a short key", `${newKey()}\nc2hvcnQ=\n`, /32 bytes in base64 in line 2 of .*found 5 bytes/],
])("a file with %s is refused, and what to do is said", async (_, text, message) => {
  await writeFile(path, text);
  const failed = expect(readKeys(path)).rejects;
  await failed.toThrow(message);
  await failed.toThrow("openssl rand -base64 32");
  await failed.toBeInstanceOf(ConfigError);
});

test("no file is refused by its name", async () => {
  await expect(readKeys(path)).rejects.toThrow(path);
});

test("a mounted Secret that is exchanged is read again", async () => {
  // As the kubelet mounts it: the file is a link into a folder that is exchanged as a whole.
  const version = async (name: string, text: string) => {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "keys"), text);
    await symlink(name, join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
  };
  const [old, young] = [newKey(), newKey()];
  await version("..1", `${old}\n`);
  await symlink("..data/keys", path);
  keys = await openKeys(path, log, 5);
  const now = keys;
  const [before] = now();
  await version("..2", `${young}\n${old}\n`);
  await vi.waitFor(() => expect(now()).toHaveLength(2), { timeout: 30_000 });
  expect(now()[1]).toEqual(before);
  expect(logged.map(({ msg }) => msg)).toEqual(["keys of sessions have changed"]);
});

test("what is no file of keys leaves those of before, and is told once", async () => {
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
