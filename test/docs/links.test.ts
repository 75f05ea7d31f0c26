/** Pages refer to things that exist: files, headings, lines of code, and commands. */
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../cli/program.ts";
import { problemOf } from "./commands.ts";
import { checkLines, declarations } from "./lines.ts";
import { pagesIn } from "./links.ts";
import { pageOf } from "./markdown.ts";

const pages = pagesIn(root);
const paths: string[] = [];
for await (const path of glob(["**/*.md", ".github/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**", "dist/**"],
}))
  paths.push(path);

test("finds the pages of the repository", () => {
  expect(paths).toEqual(expect.arrayContaining(["README.md", "docs/queue.md", "docs/security.md"]));
});

test.for(paths.toSorted())("%s has links and commands that exist", async (path) => {
  const { links, commands } = pages.page(path);
  const broken = links.map((link) => [link, pages.problemOfLink(path, link)]);
  const unknown = await Promise.all(
    commands.map(async (words) => [words.join(" "), await problemOf(words, manifest.scripts)]),
  );
  const { problems } = checkLines(root, path, await readFile(join(root, path), "utf8"));
  expect([...broken, ...unknown].filter(([, problem]) => problem !== undefined)).toEqual([]);
  expect(problems).toEqual([]);
});

test("the README starts with the two commands that run the project", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  expect(/```sh\n(.*?)```/s.exec(readme)?.[1]).toBe("npm ci && npm run demo\nnpm ci && npm test\n");
});

test("the index lists each decision", () => {
  const decisions = paths.filter((path) => /^docs\/decisions\/\d/.test(path)).map((path) => basename(path));
  expect(decisions.length).toBeGreaterThan(0);
  expect(pages.page("docs/decisions/README.md").links.toSorted()).toEqual(decisions.toSorted());
});

describe("reports what is wrong:", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "denrei-docs-test-"));
    const files = {
      "README.md": "# Denrei\n",
      "docs/a.md": '# A page\n\n## `code`, and *more*\n\n## Twice\n\n## Twice\n\n<a id="set"></a>\n',
      "bus/b.ts": "/** About start. */\nexport const stop = 1;\n\nexport function start() {}\n",
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.for([
    ["../README.md", undefined],
    ["#a-page", undefined],
    ["a.md#code-and-more", undefined],
    ["a.md#twice-1", undefined],
    ["a.md#set", undefined],
    ["../bus", undefined],
    ["../bus/b.ts#L1", undefined],
    ["https://example.com/none.md", undefined],
    ["b.md", "docs/b.md does not exist"],
    ["#none", "docs/a.md has no #none"],
    ["../README.md#a-page", "README.md has no #a-page"],
    ["/docs/a.md", "the path has to be relative to the page"],
    ["../../elsewhere.md", "the path is outside the repository"],
  ])("a link to %s", ([link = "", problem]) => {
    const found = pagesIn(folder).problemOfLink("docs/a.md", link);
    expect(found).toEqual(problem && expect.stringContaining(problem));
  });

  test.for([
    ["[`start`](../bus/b.ts#L4)", undefined, 4],
    ["[start()](../bus/b.ts#L4)", undefined, 4],
    ["[`start`](../bus/b.ts#L1)", "start is on line 4 of bus/b.ts; run node test/docs/relink.ts", 4],
    ["[`b.stop`](../bus/b.ts#L9)", "stop is on line 2 of bus/b.ts", 2],
    [
      "[`pause`](../bus/b.ts#L2)",
      "bus/b.ts does not declare pause; its line 2 is now: export const stop = 1;",
      2,
    ],
    ["[the code](../bus/b.ts#L4)", "bus/b.ts does not declare the code", 4],
    ["[`start`](../bus/none.ts#L4)", "bus/none.ts does not exist", 4],
  ] as const)("a link to a line, %s", ([link, problem, line]) => {
    const { text, problems } = checkLines(folder, "docs/a.md", link);
    expect(problems).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)]);
    expect(text).toBe(link.replace(/#L\d+/, `#L${line}`));
  });

  test("finds the declarations of functions, constants, types, and methods, and not their uses", () => {
    const source = [
      "export async function run() {",
      "  const run = 1;",
      "export interface run {",
      "  run(job: Job): Promise<void>;",
      "  async run(job) {",
      "  await run(job);",
      "  run(job);",
      "  run(() => {",
      "const rerun = () => run;",
    ].join("\n");
    expect(declarations(source, "run")).toEqual([1, 2, 3, 4, 5]);
  });

  test.for([
    ["`npm run demo -- paas --workers 2`", undefined],
    ["`npm run <script>`", undefined],
    ["`denrei deadletters list|show|replay`", undefined],
    ["`NATS_URL=nats://bus npx denrei status --json`", undefined],
    ["```sh\nkubectl get pods -n denrei # denrei none\nnpx denrei crds | kubectl apply -f -\n```", undefined],
    ["```\nnpm run none\n```", undefined],
    ["`npm run none`", 'package.json has no script "none"'],
    ["`npm run denrei -- none`", 'denrei has no command "none"'],
    ["`denrei deadletters none`", 'denrei deadletters has no command "none"'],
    ["```sh\ncat a && npx denrei status --none=1\n```", "denrei status has no --none"],
    ["| table |\n|--|\n| `npm run none -- a\\|b` |", 'package.json has no script "none"'],
  ])("%s", async ([text = "", problem]) => {
    const found = await Promise.all(pageOf(text).commands.map((words) => problemOf(words, manifest.scripts)));
    expect(found.filter((one) => one !== undefined)).toEqual(problem === undefined ? [] : [problem]);
  });

  test("finds links wherever a page may have them", () => {
    const text = [
      '[a](a.md), ![b](b.svg), [c][c] and <picture><img src="d.svg"></picture>',
      "",
      "| [e](e.md) |",
      "|--|",
      "| [f](f.md) |",
      "",
      "* [g](g.md)",
      "",
      "`[h](h.md)`",
      "",
      "[c]: c.md",
    ].join("\n");
    expect(pageOf(text).links.toSorted()).toEqual(["a.md", "b.svg", "c.md", "d.svg", "e.md", "f.md", "g.md"]);
  });
});
