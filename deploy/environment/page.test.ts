import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtPage } from "./page.ts";

async function tree(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "test-page-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) await write(root, path, text);
  return root;
}

async function write(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** Makes a page that says how often it was built. */
const program = `
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
const at = (path) => new URL(path, import.meta.url);
await mkdir(at("dist"), { recursive: true });
await appendFile(at("../../times"), "built\\n");
await writeFile(at("dist/index.html"), await readFile(at("../../times")));
`;
const source = "dashboard/web/src/main.tsx";
const times = async (root: string) =>
  (await readFile(join(root, "dashboard/web/dist/index.html"), "utf8")).trim().split("\n").length;

test("builds a missing page, and rebuilds it only after a source changed", async () => {
  const root = await tree({ "dashboard/web/build.ts": program, [source]: "" });
  let builds = 0;
  const build = () =>
    builtPage({
      root,
      onBuild() {
        builds++;
      },
    });
  expect(await build()).toBe(join(root, "dashboard/web/dist"));
  expect([await times(root), builds]).toEqual([1, 1]);
  await build();
  expect([await times(root), builds]).toEqual([1, 1]);
  const later = new Date(Date.now() + 60_000);
  await write(root, "bus/kube/object.test.ts", "");
  await utimes(join(root, "bus/kube/object.test.ts"), later, later);
  await build();
  expect(await times(root)).toBe(1);
  // Saved while it is built: what was read may be older.
  await utimes(join(root, source), later, later);
  await build();
  expect([await times(root), builds]).toEqual([2, 2]);
});

test("builds once for concurrent callers", async () => {
  const root = await tree({ "dashboard/web/build.ts": program, [source]: "" });
  await Promise.all([1, 2, 3].map(() => builtPage({ root })));
  expect(await times(root)).toBe(1);
});

test("uses the built page of the image, which has no sources", async () => {
  const root = await tree({ "dashboard/web/dist/index.html": "", [source]: "" });
  expect(await builtPage({ root })).toBe(join(root, "dashboard/web/dist"));
  const empty = await tree({});
  await expect(builtPage({ root: empty })).rejects.toThrow(
    /^the dashboard's page is missing: neither .*dist nor .*build\.ts exists\. Use a complete checkout, or the image\.$/,
  );
});

test("reports a missing package, or the error of the build", async () => {
  const missing = await tree({ "dashboard/web/build.ts": 'import "a-package-that-is-missing";' });
  await expect(builtPage({ root: missing })).rejects.toThrow(
    "the package a-package-that-is-missing, which builds the dashboard's page, is not installed. Install the development dependencies: npm ci",
  );
  const broken = await tree({ "dashboard/web/build.ts": 'throw new Error("no such element");' });
  await expect(builtPage({ root: broken })).rejects.toThrow(
    /failed to build the page:\n(.*\n)*.*no such element/,
  );
});
