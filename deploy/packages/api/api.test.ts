/** The public API as reports, pages, and problems. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { entryPointsOf, root, type Workspace } from "../workspaces.ts";
import { extractApis } from "./extract.ts";
import { referencePages } from "./reference.ts";

const manifest = {
  name: "sample",
  version: "1.0.0",
  exports: { ".": "./index.ts", "./tools": "./tools.ts", "./*": "./*.ts" },
};
const workspace: Workspace = { folder: "lib", manifest };
const index = `/** \`sample\`: songs. See docs/songs.md.\n * @packageDocumentation */
export { sing, type Song } from "./song";
`;
const song = `/** A song. */
export interface Song {
  /** At least one. */
  readonly words: readonly string[];
}
interface Options { readonly loud: boolean }
/** Sings a {@link Song}, loud or not. At night it is quiet.
 * @example
 * \`\`\`ts
 * sing({ words: ["Zun"] });
 * \`\`\`
 */
export declare function sing(song: Song): void;
export declare const verse: (options: Options) => Song;
/** A {broken} comment. */
export declare const chorus: Song;
`;

async function apiOf(tools: string) {
  await mkdir(join(root, "dist"), { recursive: true });
  const folder = await mkdtemp(join(root, "dist/test-api-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "lib"));
  const files = {
    "package.json": JSON.stringify(manifest),
    "index.d.ts": index,
    "song.d.ts": song,
    "tools.d.ts": tools,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, "lib", name), text);
  return extractApis(folder, entryPointsOf(workspace));
}

const about = "/** `sample/tools`: tools.\n * @packageDocumentation */\n";

test("writes a report of each entry point, and describes each declaration once", async () => {
  const { apis, problems } = await apiOf(`${about}export { sing } from "./song";\n`);
  expect(problems).toEqual([]);
  expect(apis.map(({ entryPoint }) => entryPoint.specifier)).toEqual(["sample", "sample/tools"]);
  expect(apis[1]?.report).toContain('API Report File for "sample/tools"');
  expect(apis[1]?.report).toContain("export function sing(song: Song): void;");

  const pages = await referencePages(apis);
  expect(pages.get("README.md")).toContain("| [`sample/tools`](sample-tools.md) | Tools. |");
  expect(pages.get("sample-tools.md")).toContain("## Also exported\n\n[sing](sample.md#sing).");
  const page = pages.get("sample.md") ?? "";
  expect(page).toContain("Songs. See [songs.md](../songs.md).");
  expect(page).toContain("| [sing](#sing) | Sings a [`Song`](#song), loud or not. |");
  expect(page).toContain("```ts\nfunction sing(song: Song): void;\n```");
  expect(page).toContain('**Example**\n\n```ts\nsing({ words: ["Zun"] });\n```\n\nUses [Song](#song).');
  expect(page).toContain("interface Song {\n  /** At least one. */\n  readonly words: readonly string[];\n}");
});

test("reports declarations without a comment, with an invalid one, and types that cannot be imported", async () => {
  const { problems } = await apiOf('export { chorus, verse } from "./song";\n');
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.stringContaining("lib/song.ts: Expecting a TSDoc tag starting with"),
      expect.stringContaining("lib/tools.ts: sample/tools has no description"),
      "lib/song.ts: verse is public and has no doc comment. Write one.",
      "lib/song.ts: Options is part of a public type, but no entry point exports it. Export it, for example from sample/tools, or change the type.",
    ]),
  );
  expect(problems.filter((problem) => problem.includes("Song"))).toEqual([]);
});
