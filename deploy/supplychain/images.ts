/**
 * Images of others that the product uses. Manifests and our own image name each with its tag, for people, and with the digest that
 * the tag had when it was recorded: `nats:2.15.2-alpine@sha256:…`. A tag can be moved, a digest not. Images that functions deploy
 * by tag are in digests.json, with the digest or null.
 */
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** An image as a file names it. */
export interface ImageUse {
  /** From the root of the repository. */
  readonly path: string;
  readonly line: number;
  /** `nats:2.15.2-alpine`; without a tag, the registry's `latest` is meant. */
  readonly name: string;
  readonly digest: string | undefined;
}

/** The digest that a registry has for an image now. Rejects when it cannot be asked. */
export type Inspect = (name: string) => Promise<string>;

/** Sentences for people. */
export interface ImageProblems {
  /** Images whose tag has another digest than the recorded one. */
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
/** Ours and the one with modules for charts, which a site chooses, and what Docker means by none. */
const notOfOthers = ["denrei", "chart-modules", "scratch"];

/** Every use of an image of others. */
export async function imageUses(root: string): Promise<ImageUse[]> {
  const uses: ImageUse[] = [];
  for await (const path of glob(sources, { cwd: root })) {
    const lines = (await readFile(join(root, path), "utf8")).split("\n");
    const own = [...notOfOthers, ...lines.flatMap((text) => stage.exec(text)?.[1] ?? [])];
    for (const [at, text] of lines.entries()) {
      const [, name, digest] = (path === recorded ? entry : used).exec(text) ?? [];
      if (name !== undefined && !own.includes(name)) uses.push({ path, line: at + 1, name, digest });
    }
  }
  return uses.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

/** Compares digests with those of the registry. */
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

/** Writes the digests of the registry into the files. Returns the lines that changed. */
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
