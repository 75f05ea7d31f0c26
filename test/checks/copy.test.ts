/** All texts that users of the page read stand in the catalogs `text.ts` of its areas, so that one person can read all of them. */
import { glob, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { copyIn } from "./copy.ts";
import type { SourceFile } from "./imports.ts";

const page = fileURLToPath(new URL("../../dashboard/web/src", import.meta.url));

/** Literals that look like texts, but are not shown. */
const notShown = [{ path: "ui/health.ts", text: '"Git Hub"' }];

const isTested = (path: string): boolean => !/(^|\/)text\.ts$|\.test\.ts$/.test(path);

async function pageFiles(): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const found of glob("**/*.{ts,tsx}", { cwd: page })) {
    const path = found.replaceAll(sep, "/");
    if (isTested(path)) files.push({ path, text: await readFile(join(page, found), "utf8") });
  }
  return files;
}

test("the page has no texts outside of its catalogs", async () => {
  const files = await pageFiles();
  expect(files.length).toBeGreaterThan(50);
  const found = copyIn(files).filter(
    ({ path, text }) => !notShown.some((one) => one.path === path && one.text === text),
  );
  expect(found.map(({ path, line, text }) => `${path}:${line}: move to text.ts: ${text}`)).toEqual([]);
});

const planted: readonly (readonly [what: string, code: string, found?: string])[] = [
  ["the content of an element", "<p>No builds yet</p>", "No builds yet"],
  ["a word beside an expression", "<p>{count} words</p>", "words"],
  ["the content of a fragment", "<>, folder {path}</>", ", folder"],
  ["an alternative", '<p>{is ? text.some : "none yet"}</p>', '"none yet"'],
  ["a condition", '<p>{is && "in all namespaces"}</p>', '"in all namespaces"'],
  ["a template", `<p>{\`\${a} of \${b}\`}</p>`, `\`\${a} of \${b}\``],
  ["an attribute for screen readers", '<nav aria-label="Main" />', '"Main"'],
  ["a placeholder", '<input placeholder="main" />', '"main"'],
  ["the prop of a component", '<Field label="Branch" />', '"Branch"'],
  ["a template in a prop", `<Chart label={\`Log of \${name}\`} />`, `\`Log of \${name}\``],
  ["a property", 'const list = { title: "Zundoko" }', '"Zundoko"'],
  ["the name of a column", 'const column = ["Build", (build) => <a>{build}</a>]', '"Build"'],
  ["the words of a status", 'const status = ["bad", "Offline"]', '"Offline"'],
  ["a sentence", 'notify("good", "Saved it.")', '"Saved it."'],
  ["a lead", 'notify("bad", withLead("Logout failed:", message))', '"Logout failed:"'],
  ["a text of a catalog", "<p title={text.title}>{text.count(3)}</p>"],
  ["code", "<code>kubectl get pods</code>"],
  ["a unit", `<p>{\`\${millis} ms\`}</p>`],
  ["punctuation", "<p>{a}, {b} ({c})</p>"],
  ["classes", '<p class="quiet small">{a}</p>'],
  ["the name of an input", '<input name="other" type="text" />'],
  ["a comparison", '<p>{kind === "Application" && a}</p>'],
  ["kinds", 'const kinds = ["Mysql", "Mongo"]'],
  ["tones", 'const tones = { done: "good" }'],
  ["an error of the program", 'throw new Error("This cannot happen.")'],
  ["a type", 'type Mode = "When asked"'],
];

const foundIn = copyIn(planted.map(([, text], at) => ({ path: `${at}.tsx`, text })));

test.each(
  planted.map(([what, , found], at) => [found === undefined ? "accepts" : "finds", what, found, at] as const),
)("%s %s", (_, __, found, at) => {
  const texts = foundIn.filter(({ path }) => path === `${at}.tsx`).map(({ text }) => text);
  expect(texts).toEqual(found === undefined ? [] : [found]);
});
