/**
 * Images of others that our manifests and our own image use. Each is written with its tag, for people, and with the
 * digest that the tag had when it was recorded: `nats:2.15.2-alpine@sha256:…`. A tag can be moved, a digest not.
 */
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** An image as a file names it. */
export interface ImageUse {
  /** From the root of the repository. */
  readonly path: string;
  readonly line: number;
  /** `nats:2.15.2-alpine` */
  readonly name: string;
  readonly digest: string | undefined;
}

/** The digest that a registry has for the tag of an image now. Rejects when it cannot be asked. */
export type Inspect = (name: string) => Promise<string>;

const sources = ["deploy/kubernetes/**/*.yaml", "deploy/kind.yaml", "deploy/Dockerfile"];
const pattern = /(?:\bimage:|^FROM)\s+"?([^\s"@]+:[^\s"@]+)(?:@(sha256:[0-9a-f]{64}))?/;

/** Every use of an image with a tag. Our own has none in the manifests: a site chooses it. */
export async function imageUses(root: string): Promise<ImageUse[]> {
  const uses: ImageUse[] = [];
  for await (const path of glob(sources, { cwd: root })) {
    const lines = (await readFile(join(root, path), "utf8")).split("\n");
    for (const [at, text] of lines.entries()) {
      const [, name, digest] = pattern.exec(text) ?? [];
      if (name !== undefined) uses.push({ path, line: at + 1, name, digest });
    }
  }
  return uses.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

/** Compares digests with those of the registry; a sentence for each image that has none, or another one. */
export async function imageProblems(uses: readonly ImageUse[], inspect: Inspect): Promise<string[]> {
  const problems: string[] = [];
  for (const { path, line, name, digest } of uses) {
    const now = await inspect(name);
    const record = `Write ${name}@${now}`;
    if (digest === undefined) problems.push(`${path}:${line}: ${name} has no digest. ${record}`);
    else if (digest !== now)
      problems.push(`${path}:${line}: the tag ${name} moved from ${digest}. See what changed. ${record}`);
  }
  return problems;
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
    const before = digest === undefined ? name : `${name}@${digest}`;
    lines[line - 1] = (lines[line - 1] ?? "").replace(before, `${name}@${now}`);
    await writeFile(join(root, path), lines.join("\n"));
    changed.push(`${path}:${line}: ${name}@${now}`);
  }
  return changed;
}
