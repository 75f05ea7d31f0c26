/** The version of a release. `package.json` of the repository decides it, and every other place repeats it. */
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageManifest } from "./manifest.ts";

/** A text that contains the version. */
interface Place {
  readonly path: string;
  readonly text: string;
  /** Finds the version as its first group. */
  readonly patterns: readonly RegExp[];
}

const version = "(\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?)";
/** `denrei:0.1.0`, and `newTag: 0.1.0` where kustomize sets it. */
const imageTags = [
  new RegExp(`(?<![/\\w-])denrei:${version}`, "g"),
  new RegExp(`\\bnewTag: ${version}`, "g"),
];
const imageLabel = new RegExp(`image\\.version=${version}`, "g");
const ownVersion = new RegExp(`^ {2}"version": "${version}"`, "gm");
const manifests = ["deploy/Dockerfile", "deploy/kubernetes/**/*.{yaml,md}"];

/** The version of the repository. */
export async function versionOf(root: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, "package.json"), "utf8")) as PackageManifest).version;
}

/** Places with another version than the repository's, a sentence each. */
export async function versionProblems(root: string): Promise<string[]> {
  const expected = await versionOf(root);
  const problems: string[] = [];
  for (const { path, text, patterns } of await placesIn(root)) {
    const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, one]) => one));
    for (const other of new Set(found.filter((one) => one !== expected)))
      problems.push(
        `${path}: expected the version ${expected} of package.json, found ${other}. Run npm run release -- version ${expected}`,
      );
  }
  return problems;
}

/** Writes a version to all places. Returns the paths of the changed files. */
export async function setVersion(root: string, to: string): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, text, patterns } of await placesIn(root)) {
    const written = patterns.reduce(
      (all, pattern) => all.replaceAll(pattern, (match, found: string) => match.replace(found, to)),
      text,
    );
    if (written === text) continue;
    await writeFile(join(root, path), written);
    changed.push(path);
  }
  return changed;
}

async function placesIn(root: string): Promise<readonly Place[]> {
  const read = (path: string) => readFile(join(root, path), "utf8");
  const { workspaces = [] }: PackageManifest = JSON.parse(await read("package.json"));
  const names = await Promise.all(
    workspaces.map(
      async (folder) => (JSON.parse(await read(`${folder}/package.json`)) as PackageManifest).name,
    ),
  );
  const dependency = new RegExp(`"(?:${names.join("|")})": "${version}"`, "g");
  // In the lock file, the repository and its packages are the entries outside node_modules.
  const locked = ["", ...workspaces].map(
    (folder) => new RegExp(`(?<=^ {4}"${folder}": \\{\\n(?: {6}.*\\n)*? {6}"version": )"${version}"`, "gm"),
  );
  const places: Place[] = [
    { path: "package.json", text: await read("package.json"), patterns: [ownVersion] },
    {
      path: "package-lock.json",
      text: await read("package-lock.json"),
      patterns: [ownVersion, dependency, ...locked],
    },
  ];
  for (const folder of workspaces) {
    const path = `${folder}/package.json`;
    places.push({ path, text: await read(path), patterns: [ownVersion, dependency] });
  }
  for await (const path of glob(manifests, { cwd: root }))
    places.push({ path, text: await read(path), patterns: [...imageTags, imageLabel] });
  return places;
}
