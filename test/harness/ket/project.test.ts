/** Somebody else's project: its function and its test know this one as `denrei` and `denrei/test`. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root, run } from "../../cli/program.ts";

const files: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ name: "theirs", type: "module", private: true }),
  "src/greeting.ts": `
import { conditions, defineFunction, defineKind, observedGeneration, z } from "denrei";

export const Greeting = defineKind({
  group: "greetings.example.com",
  version: "v1",
  kind: "Greeting",
  description: "Greets.",
  spec: z.object({ who: z.string() }),
  status: z.object({ said: z.string().optional(), observedGeneration, conditions: conditions("Ready.") }),
});

export default defineFunction({
  name: "greeting",
  for: Greeting,
  async reconcile(greeting, ctx) {
    await ctx.status(Greeting, greeting, { said: \`Hello, \${greeting.spec.who}!\` });
    return undefined;
  },
});
`,
  "test/cases/first/given.yaml": `
apiVersion: greetings.example.com/v1
kind: Greeting
metadata: { name: first }
spec: { who: Kaito }
`,
  "test/cases/first/expect.yaml": `
apiVersion: greetings.example.com/v1
kind: Greeting
metadata: { name: first }
status: { said: "Hello, Kaito!" }
`,
  "test/greeting.test.ts": `
import { type Ket, startKet } from "denrei/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Greeting } from "../src/greeting.ts";

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({
    functions: [new URL("../src/greeting.ts", import.meta.url)],
    fixtures: new URL("cases", import.meta.url),
    controllerManager: "omit",
  });
}, 240_000);
afterAll(() => ket?.stop(), 60_000);

test("somebody is greeted", { timeout: 60_000 }, () =>
  ket.apply("first", async () => {
    expect((await ket.list(Greeting)).map(({ status }) => status?.said)).toEqual(["Hello, Kaito!"]);
  }));
`,
};

test("a project with a function and a test of its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ket-project-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text.trimStart());
  }
  await mkdir(join(folder, "node_modules"));
  // As npm installs a folder.
  await symlink(root, join(folder, "node_modules/denrei"));
  await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { code, stdout, stderr } = await run([vitest, "run"], {
    command: [process.execPath],
    cwd: folder,
    env: { NO_COLOR: "1" },
    longestMillis: 300_000,
  });
  expect(stdout + stderr).toContain("Tests  1 passed (1)");
  expect(code).toBe(0);
}, 300_000);
