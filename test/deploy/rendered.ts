/** Renderings shared by all test files of a run, because kustomize takes more than a second for each. */
import { createHash } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { withLock } from "../../deploy/local/binaries/lock.ts";
import { type Manifest, root } from "./manifests.ts";

/** The sources of renderings. They can differ between runs that share a temporary folder, and between runs of `vitest --watch`. */
const inputs = ["crds", "deploy/generate", "deploy/helm", "deploy/kubernetes", "deploy/manifests"];

/** The result of `make`, from a file if this run has already created it. Every caller gets a copy. */
export async function renderedOnce<T>(name: string, make: () => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `test-rendered-${await digestOf(name)}.json`);
  const stored = () => readFile(path, "utf8").catch(() => undefined);
  const made = async () => {
    const before = await stored();
    if (before !== undefined) return before;
    const text = JSON.stringify(await make());
    await writeFile(`${path}.${process.pid}`, text);
    await rename(`${path}.${process.pid}`, path);
    return text;
  };
  return JSON.parse((await stored()) ?? (await withLock(`${path}.lock`, {}, made)));
}

/** The objects of a kustomization, by its path in the repository. */
export const rendered = (path: string): Promise<Manifest[]> =>
  renderedOnce(path, () => render(join(root, path)));

async function digestOf(name: string): Promise<string> {
  const hash = createHash("sha256").update(name);
  for (const folder of inputs) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.sort()) hash.update(`\0${file}\0`).update(await readFile(file));
  }
  return hash.digest("hex");
}
