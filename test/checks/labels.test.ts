/** Labels, folders, CONTRIBUTING.md, and the issue forms name the same areas. */
import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join, matchesGlob, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");

type Labeler = Record<
  string,
  readonly { "changed-files": readonly { "any-glob-to-any-file": string[] }[] }[]
>;
const labeler: Labeler = parse(await read(".github/labeler.yml"));
const labels = Object.keys(labeler);
const globs = Object.values(labeler)
  .flat()
  .flatMap((rule) => rule["changed-files"])
  .flatMap((files) => files["any-glob-to-any-file"]);

const files: string[] = [];
for await (const path of glob("{bus,functions,dashboard,deploy,test,docs,crds,.github,.ci}/**/*", {
  cwd: root,
  exclude: ["**/node_modules/**", "dashboard/web/dist/**"],
}))
  files.push(path.replaceAll(sep, "/"));

test("each file of the platform, the tools, and the tests has a label", () => {
  expect(files.length).toBeGreaterThan(500);
  // A new system in functions/ passes all checks without a label.
  const unlabeled = files.filter(
    (path) => !path.startsWith("functions/") && !globs.some((pattern) => matchesGlob(path, pattern)),
  );
  expect(unlabeled).toEqual([]);
});

test("each pattern of a label matches a file", () => {
  const known = [...files, "README.md"];
  expect(globs.filter((pattern) => !known.some((path) => matchesGlob(path, pattern)))).toEqual([]);
});

test("CONTRIBUTING.md describes each label", async () => {
  const rows = (await read("CONTRIBUTING.md")).matchAll(/^\| `(area\/[a-z]+)` \|/gm);
  expect([...rows].map(([, label]) => label)).toEqual(labels);
});

test.for(["bug.yml", "feature.yml"])("the form %s offers the areas", async (name) => {
  const { body } = parse(await read(`.github/ISSUE_TEMPLATE/${name}`));
  const { attributes } = body.find(({ id }: { id?: string }) => id === "area");
  expect(attributes.options).toEqual(labels.map((label) => label.replace("area/", "")));
});

test("dependency updates cover folders that exist", async () => {
  const { updates } = parse(await read(".github/dependabot.yml"));
  const folders: string[] = updates.flatMap(
    ({ directory, directories = [] }: { directory?: string; directories?: string[] }) =>
      directory ?? directories,
  );
  expect(folders.length).toBeGreaterThan(3);
  expect(folders.filter((folder) => !existsSync(join(root, folder.replace(/\*$/, ""))))).toEqual([]);
});
