/**
 * Third-party images that the product uses. Manifests and our own image refer to each by its tag, for people, and by the
 * digest that the tag had when it was recorded: `nats:2.15.2-alpine@sha256:…`. A tag can move, a digest cannot. Images that
 * functions deploy by tag are in digests.json, with their digest or null.
 */
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A reference to an image in a file. */
export interface ImageUse {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly line: number;
  /** `nats:2.15.2-alpine`. Without a tag, the registry uses `latest`. */
  readonly name: string;
  readonly digest: string | undefined;
}

/** Returns the current digest of an image in its registry. Rejects when the registry cannot be queried. */
export type Inspect = (name: string) => Promise<string>;

/** Problems, as sentences for people. */
export interface ImageProblems {
  /** Images whose tag now has a digest other than the recorded one. */
  readonly moved: readonly string[];
  /** Images without a recorded digest. */
  readonly unrecorded: readonly string[];
}

const recorded = "deploy/supplychain/digests.json";
const sources = ["deploy/kubernetes/**/*.yaml", "deploy/kind.yaml", "deploy/Dockerfile", recorded];
const digestText = "(sha256:[0-9a-f]{64})";
const used = new RegExp(`^[^#]*?(?:\\bimage:|^FROM)\\s+"?([^\\s"@]+)(?:@${digestText})?`);
const entry = new RegExp(`^\\s*"([^"]+)": (?:null|"${digestText}"),?$`);
const stage = /^FROM\s.*\sAS\s+(\S+)/i;
/** Our own image, the one with chart modules that a site chooses, and Docker's name for an empty image. */
const ownImages = ["denrei", "chart-modules", "scratch"];

/** All references to third-party images. */
export async function imageUses(root: string): Promise<ImageUse[]> {
  const uses: ImageUse[] = [];
  for await (const path of glob(sources, { cwd: root })) {
    const lines = (await readFile(join(root, path), "utf8")).split("\n");
    const own = [...ownImages, ...lines.flatMap((text) => stage.exec(text)?.[1] ?? [])];
    for (const [at, text] of lines.entries()) {
      const [, name, digest] = (path === recorded ? entry : used).exec(text) ?? [];
      if (name !== undefined && !own.includes(name)) uses.push({ path, line: at + 1, name, digest });
    }
  }
  return uses.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

/** Compares recorded digests with those in the registry. */
export async function imageProblems(uses: readonly ImageUse[], inspect: Inspect): Promise<ImageProblems> {
  const moved: string[] = [];
  const unrecorded: string[] = [];
  for (const { path, line, name, digest } of uses) {
    const now = await inspect(name);
    const record = `Write ${name}@${now}`;
    if (digest === undefined) unrecorded.push(`${path}:${line}: ${name} has no digest. ${record}`);
    else if (digest !== now)
      moved.push(`${path}:${line}: the tag ${name} moved from ${digest}. See what changed. ${record}`);
  }
  return { moved, unrecorded };
}

/** Writes the digests from the registry into the files. Returns the changed lines. */
export async function recordDigests(
  root: string,
  uses: readonly ImageUse[],
  inspect: Inspect,
): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, line, name, digest } of uses) {
    const now = await inspect(name);
    if (digest === now) continue;
    const lines = (await readFile(join(root, path), "utf8")).split("\n");
    const text = lines[line - 1] ?? "";
    if (path === recorded) lines[line - 1] = text.replace(/(": )(null|"[^"]*")/, `$1"${now}"`);
    else lines[line - 1] = text.replace(digest === undefined ? name : `${name}@${digest}`, `${name}@${now}`);
    await writeFile(join(root, path), lines.join("\n"));
    changed.push(`${path}:${line}: ${name}@${now}`);
  }
  return changed;
}
