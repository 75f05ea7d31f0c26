/** Webhook secrets: rotation in plain files and in mounted Secrets, and startup without secrets. */
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError } from "../../bus/config/config.ts";
import { readSecrets, type Secrets } from "../../bus/gateway/secrets.ts";
import { hookSecret } from "../harness/environment.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { openGateway, secretsFolder, startWebhookBus, type TestGateway, withGateway } from "./gateways.ts";
import { ask } from "./requests.ts";

const deadline = { timeout: 30_000, interval: 20 };
const times = { reread: 50 };
const [one, two, three] = ["the first secret", "the second secret", "the third secret"] as const;
let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterAll(() => local?.stop());

/** The status of a push that this secret signs. */
async function statusWith({ hookUrl }: TestGateway, secret: string, hook = "app"): Promise<number> {
  const { status } = await ask(hookUrl(hook), hookOf("push", example("push"), undefined, secret));
  return status;
}

/** The statuses for each secret, in order. */
const statuses = async (gateway: TestGateway, ...secrets: readonly string[]): Promise<number[]> =>
  Promise.all(secrets.map((secret) => statusWith(gateway, secret)));

/** Writes a file atomically. */
async function put(folder: string, hook: string, text: string): Promise<void> {
  await writeFile(join(folder, `.${hook}`), text);
  await rename(join(folder, `.${hook}`), join(folder, hook));
}

describe.concurrent("secrets", () => {
  test("each line is a secret, with any line ending", ({ expect }) =>
    withGateway(
      local,
      async (gateway) => {
        expect(await statuses(gateway, one, two, three)).toEqual([202, 202, 202]);
        expect(await statuses(gateway, "", `${one}\n${two}`, "no such secret", ` ${one}`)).toEqual(
          Array(4).fill(401),
        );
      },
      { secrets: { "github.app": `\n${one}\r\n\n  ${two}\t\n${three}` } },
    ));

  test("a secret is valid only for its own hook", ({ expect }) =>
    withGateway(
      local,
      async (gateway) => {
        expect(await statusWith(gateway, one, "one")).toBe(202);
        expect(await statusWith(gateway, two, "two.and-a_half")).toBe(202);
        expect(await statusWith(gateway, two, "one")).toBe(401);
        expect(await statusWith(gateway, one, "two.and-a_half")).toBe(401);
        expect(await statusWith(gateway, three, ".hidden")).toBe(401);
        expect(await statusWith(gateway, one, "unknown")).toBe(401);
      },
      { secrets: { "github.one": one, "github.two.and-a_half": two, "github..hidden": three } },
    ));

  test("accepts added secrets, and rejects removed ones", async ({ expect }) =>
    withGateway(
      local,
      async (gateway) => {
        await put(gateway.folder, "github.app", `${one}\n${two}\n`);
        await expect.poll(() => statuses(gateway, one, two), deadline).toEqual([202, 202]);
        await put(gateway.folder, "github.app", `${two}\n`);
        await expect.poll(() => statuses(gateway, one, two), deadline).toEqual([401, 202]);
        // Hooks can be added at any time.
        await put(gateway.folder, "github.late", three);
        await expect.poll(() => statusWith(gateway, three, "late"), deadline).toBe(202);
        const changes = gateway.log.records().filter(({ msg }) => msg === "webhook secrets changed");
        expect(changes).toMatchObject([
          { hooks: ["github.app"] },
          { hooks: ["github.app"] },
          { hooks: ["github.app", "github.late"] },
        ]);
      },
      { secrets: { "github.app": one }, times },
    ));

  test("rejects everything while there are no secrets", async ({ expect }) =>
    withGateway(
      local,
      async (gateway) => {
        const failures = () =>
          gateway.log.records().filter(({ msg }) => msg === "failed to read webhook secrets");
        for (const remove of [
          () => put(gateway.folder, "github.app", "\n"),
          () => rm(join(gateway.folder, "github.app")),
          () => rename(gateway.folder, `${gateway.folder}-away`),
        ]) {
          const before = failures().length;
          await remove();
          await expect.poll(() => statusWith(gateway, one), deadline).toBe(401);
          // A read during the change may fail for another reason. Each reason is logged once.
          const messages = failures()
            .slice(before)
            .map(({ err }) => (err as Error).message);
          expect(messages).not.toEqual([]);
          expect(new Set(messages).size).toBe(messages.length);
          await mkdir(gateway.folder, { recursive: true });
          await put(gateway.folder, "github.app", one);
          await expect.poll(() => statusWith(gateway, one), deadline).toBe(202);
        }
      },
      { secrets: { "github.app": one }, times },
    ));

  test("keeps the secrets while the folder cannot be read", async ({ expect }) => {
    const folder = await secretsFolder(local, { "github.app": one });
    const link = join(await secretsFolder(local, {}), "link");
    await symlink(folder, link);
    await withGateway(
      local,
      async (gateway) => {
        // Atomic: a folder that is missing for a moment would be another case.
        await pointTo(link, link);
        const line = await gateway.log.until((text) => text.includes("failed to read webhook secrets"));
        expect(line).toContain("ELOOP");
        expect(await statusWith(gateway, one)).toBe(202);
        await pointTo(link, await secretsFolder(local, { "github.app": two }));
        await expect.poll(() => statuses(gateway, one, two), deadline).toEqual([401, 202]);
      },
      { webhookSecrets: link, times },
    );
  });
});

/** Replaces a link atomically. */
async function pointTo(link: string, target: string): Promise<void> {
  await symlink(target, `${link}.next`);
  await rename(`${link}.next`, link);
}

/** A Secret volume as the kubelet writes it: the files are links through `..data`, which each update replaces. */
async function mount(secrets: Readonly<Record<string, string>>) {
  const folder = await secretsFolder(local, {});
  let version = 0;
  async function write(next: Readonly<Record<string, string>>): Promise<void> {
    const name = `..2026_01_02_03_04_05.${++version}`;
    await mkdir(join(folder, name));
    for (const [hook, text] of Object.entries(next)) await writeFile(join(folder, name, hook), text);
    await symlink(name, join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    await rm(join(folder, `..2026_01_02_03_04_05.${version - 1}`), { recursive: true, force: true });
  }
  await write(secrets);
  for (const hook of Object.keys(secrets)) await symlink(join("..data", hook), join(folder, hook));
  return { folder, write };
}

test("warns of a secret that verifies nothing, without its text", async () => {
  const secrets = { "github.app": one, "gitbuh.app": two, "standard-webhooks.app": `whsec_${three}` };
  await withGateway(
    local,
    async (gateway) => {
      const warnings = gateway.log.records().filter(({ level }) => level === "warn");
      expect(warnings).toMatchObject([
        { hook: "gitbuh.app", msg: "webhook secret ignored, unknown provider" },
        { hook: "standard-webhooks.app", secret: 1, msg: "webhook secret cannot be used" },
      ]);
      expect(gateway.log.all.join("\n")).not.toContain(three);
      expect(await statuses(gateway, one, two)).toEqual([202, 401]);
    },
    { secrets },
  );
});

test("follows updates of a mounted Secret without a gap", async () => {
  const { folder, write } = await mount({ "github.app": `${one}\n${two}`, "github.other": three });
  expect(await readFile(join(folder, "github.app"), "utf8")).toContain(one);
  await withGateway(
    local,
    async (gateway) => {
      expect(gateway.log.records()).toContainEqual(
        expect.objectContaining({ msg: "webhook secrets read", hooks: ["github.app", "github.other"] }),
      );
      expect(await statuses(gateway, one, two, three)).toEqual([202, 202, 401]);
      await write({ "github.app": `${two}\n${three}`, "github.other": three });
      const seen: number[][] = [];
      await expect
        .poll(async () => {
          seen.push(await statuses(gateway, one, two, three));
          return seen.at(-1);
        }, deadline)
        .toEqual([401, 202, 202]);
      // The unchanged secret is valid throughout.
      for (const [, kept] of seen) expect(kept).toBe(202);
      expect(await statusWith(gateway, three, "other")).toBe(202);
      // The link of a removed key is dangling for a while.
      await write({ "github.app": three });
      await expect.poll(() => statusWith(gateway, three, "other"), deadline).toBe(401);
      expect(await statuses(gateway, two, three)).toEqual([401, 202]);
      for (const { level } of gateway.log.records()) expect(level).not.toBe("error");
    },
    { webhookSecrets: folder, times },
  );
});

test("reads a consistent version of a mounted Secret during updates", async () => {
  // Each update adds or removes the hook "other", and changes all secrets.
  const volume = (version: number): Record<string, string> =>
    version % 2 === 0
      ? { "github.app": `v${version}`, "github.other": `v${version}` }
      : { "github.app": `v${version}` };
  const { folder, write } = await mount(volume(0));
  let updating = true;
  const read: Secrets[] = [];
  const reader = (async () => {
    while (updating) read.push(await readSecrets(folder));
  })();
  for (let version = 1; version <= 300; version++) await write(volume(version));
  updating = false;
  await reader;
  for (const secrets of read) {
    const version = Number(secrets.get("github.app")?.[0]?.slice(1));
    expect(Object.fromEntries(secrets)).toEqual(
      Object.fromEntries(Object.entries(volume(version)).map(([hook, text]) => [hook, [text]])),
    );
  }
  expect(new Set(read.map((secrets) => secrets.get("github.app")?.[0])).size).toBeGreaterThan(1);
});

describe("does not start, and reports what to do, when", () => {
  const canary = "never to be seen";
  const folders: readonly [what: string, prepare: () => Promise<string>, says: RegExp][] = [
    [
      "the folder does not exist",
      async () => join(await secretsFolder(local, {}), "nowhere"),
      /^cannot read the folder of webhook secrets .*\/nowhere: it does not exist\.$/,
    ],
    [
      "the path is a file",
      async () => join(await secretsFolder(local, { "github.app": canary }), "github.app"),
      /^cannot read the folder of webhook secrets .*\/github\.app: .*not a directory/,
    ],
    [
      "the folder is empty",
      () => secretsFolder(local, {}),
      /^no webhook secrets in .*: expected one file per webhook, <provider>\.<hook>, with one secret per line, found none\. Write the secret that is set on the hook's page at GitHub into .*\/github\.<hook>: <hook> is the last part of its URL\.$/,
    ],
    [
      "all files are empty",
      () => secretsFolder(local, { "github.app": "", "github.other": " \n\t\n" }),
      /, found only empty files \(github\.app, github\.other\)\. Write the secret/,
    ],
    [
      "no file has a valid name for a hook",
      () => secretsFolder(local, { ".app": canary, "github.a b": canary, app: canary }),
      /, found only files with other names \((app, github\.a b|github\.a b, app)\)\. Write the secret/,
    ],
    [
      "the file of a hook is a link to a folder",
      async () => {
        const folder = await secretsFolder(local, {});
        await symlink(await secretsFolder(local, { "github.app": canary }), join(folder, "github.app"));
        return folder;
      },
      /^cannot read the secrets of a webhook in .*\/github\.app: EISDIR/,
    ],
  ];
  test.each(folders)("%s", async (_what, prepare, says) => {
    const webhookSecrets = await prepare();
    const error = await openGateway(local, { webhookSecrets }).then(
      () => expect.fail(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ConfigError);
    const { message, stack } = error as Error;
    expect(message).toMatch(says);
    for (const secret of [canary, hookSecret]) expect(stack).not.toContain(secret);
  });
});
