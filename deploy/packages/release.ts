/**
 * `npm run release -- <command>`: the steps of a release (docs/releasing.md).
 *
 * * `version <version>` sets the version everywhere, and gives the unreleased changes of the changelog this version.
 * * `check <tag>` fails unless the tag names the version of all places, and the changelog lists it.
 * * `notes` prints the changes of this version.
 * * `publish [--dry-run]` publishes the tarballs that `npm run packages` has packed.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { notesOf, releaseChanges } from "./changelog.ts";
import { publish } from "./publish.ts";
import { setVersion, versionOf, versionProblems } from "./version.ts";
import { root, workspaces } from "./workspaces.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "dry-run": { type: "boolean", default: false },
    /** The repository. Tests set it to a copy. */
    root: { type: "string", default: root },
  },
});
const [command, argument, ...more] = positionals;
const changelogPath = join(values.root, "CHANGELOG.md");

async function prepare(version: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error(`"${version}" is not a version: expected one such as 1.2.3 or 1.2.3-rc.1 (semver.org)`);
  const changelog = await readFile(changelogPath, "utf8");
  if (!changelog.includes(`## [${version}]`))
    await writeFile(changelogPath, releaseChanges(changelog, version, new Date().toISOString().slice(0, 10)));
  for (const path of await setVersion(values.root, version)) console.log(`wrote ${path}`);
}

async function check(tag: string): Promise<void> {
  const version = await versionOf(values.root);
  const problems = await versionProblems(values.root);
  if (tag !== `v${version}`)
    problems.push(`the tag ${tag} does not name the version of package.json: expected v${version}`);
  notesOf(await readFile(changelogPath, "utf8"), version);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log(`${tag} is the version of all packages, images, and manifests.`);
}

async function publishAll(): Promise<void> {
  const version = await versionOf(values.root);
  for (const { manifest } of await workspaces()) {
    const { name } = manifest;
    const tarball = join(root, "dist/tarballs", `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
    const isNew = await publish(name, version, tarball, { dryRun: values["dry-run"] });
    console.log(
      isNew
        ? `${values["dry-run"] ? "would publish" : "published"} ${name}@${version}`
        : `${name}@${version} is already published`,
    );
  }
}

try {
  if (command === "version" && argument !== undefined && more.length === 0) await prepare(argument);
  else if (command === "check" && argument !== undefined && more.length === 0) await check(argument);
  else if (command === "notes" && argument === undefined)
    console.log(notesOf(await readFile(changelogPath, "utf8"), await versionOf(values.root)));
  else if (command === "publish" && argument === undefined) await publishAll();
  else throw new Error('expected "version <version>", "check <tag>", "notes", or "publish"');
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
