/** What the pages point at is there: files, places in them, and commands. */
import { glob, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../cli/program.ts";
import { problemOf } from "./commands.ts";
import { pagesIn } from "./links.ts";
import { pageOf } from "./markdown.ts";

const pages = pagesIn(root);
const paths: string[] = [];
for await (const path of glob(["**/*.md", ".github/**/*.md"], { cwd: root, exclude: ["**/node_modules/**"] }))
  paths.push(path);

test("the pages are looked at", () => {
  expect(paths).toEqual(expect.arrayContaining(["README.md", "docs/queue.md", "docs/security.md"]));
});

test.for(paths.toSorted())("%s links to what is there, and names commands that there are", async (path) => {
  const { links, commands } = pages.page(path);
  const broken = links.map((link) => [link, pages.problemOfLink(path, link)]);
  const unknown = await Promise.all(
    commands.map(async (words) => [words.join(" "), await problemOf(words, manifest.scripts)]),
  );
  expect([...broken, ...unknown].filter(([, problem]) => problem !== undefined)).toEqual([]);
});

test("each decision is in their index", () => {
  const decisions = paths.filter((path) => /^docs\/decisions\/\d/.test(path)).map((path) => basename(path));
  expect(decisions.length).toBeGreaterThan(0);
  expect(pages.page("docs/decisions/README.md").links.toSorted()).toEqual(decisions.toSorted());
});

describe("what is wrong is found:", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "denrei-docs-test-"));
    const files = {
      "README.md": "# Denrei\n",
      "docs/a.md": '# A page\n\n## `code`, and *more*\n\n## Twice\n\n## Twice\n\n<a id="set"></a>\n',
      "bus/b.ts": "",
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
    ["b.md", "there is no docs/b.md"],
    ["#none", "docs/a.md has no #none"],
    ["../README.md#a-page", "README.md has no #a-page"],
    ["/docs/a.md", "expected a path from the page's own folder"],
    ["../../elsewhere.md", "it leads out of the repository"],
  ])("a link to %s", ([link = "", problem]) => {
    const found = pagesIn(folder).problemOfLink("docs/a.md", link);
    expect(found).toEqual(problem && expect.stringContaining(problem));
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

  test("links are found wherever a page may have them", () => {
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
