/** How much a browser loads before the page shows anything. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { builtPage } from "../../deploy/environment/page.ts";

await builtPage();

const page = fileURLToPath(new URL("../../dashboard/web/dist", import.meta.url));
const most = 60 * 1024;

/** https://vite.dev/guide/backend-integration.html */
type Manifest = Readonly<Record<string, { readonly file: string; readonly imports?: readonly string[] }>>;

/** The files of a module and of its static imports. */
function filesOf(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (chunk === undefined)
    throw new Error(`expected ${name} in the page's manifest, found ${Object.keys(manifest)}`);
  if (found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const imported of chunk.imports ?? []) filesOf(manifest, imported, found);
  return found;
}

test("the first screen needs at most 60 KB of JavaScript, compressed, and no schemas", async () => {
  const manifest: Manifest = JSON.parse(await readFile(join(page, "manifest.json"), "utf8"));
  const files = filesOf(manifest, "src/applications/list.tsx", filesOf(manifest, "index.html"));
  const texts = await Promise.all([...files].map((file) => readFile(join(page, file), "utf8")));
  expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThanOrEqual(most);
  expect(texts.filter((text) => text.includes("safeParse"))).toEqual([]);
});
