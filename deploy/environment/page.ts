/** The dashboard's page as it is served: built from its sources in a checkout, and there from the start in the image. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withLock } from "../local/binaries/lock.ts";
import { AbsentError } from "./errors.ts";

/** Where the page is, and who is told. */
export interface PageOptions {
  /** The root of the repository; of this one unless given. */
  readonly root?: string;
  /** Called when it begins to be built. */
  readonly onBuild?: () => void;
  readonly signal?: AbortSignal | undefined;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** What a page may be made of: its own files, and modules of the other folders that it may import. */
const sources = [
  "dashboard/**/*.{ts,tsx,css,svg,html}",
  "functions/**/*.ts",
  "bus/**/*.ts",
  "package-lock.json",
];
const isNoSource = /(^|\/)(dist|node_modules)\/|\.test\.tsx?$/;

/**
 * The folder with the built page. It is built when there is none, or an older one than its sources. Throws an `AbsentError` when
 * it can not be had.
 */
export async function builtPage({ root = repository, onBuild, signal }: PageOptions = {}): Promise<string> {
  const web = join(root, "dashboard/web");
  const page = join(web, "dist");
  const program = join(web, "build.ts");
  if (!existsSync(program)) {
    // The image has no sources.
    if (existsSync(join(page, "index.html"))) return page;
    throw new AbsentError(
      `expected the built page in ${page}, or ${program} to build it with, found neither. Take a whole checkout, or the image.`,
    );
  }
  if (await isFresh(root, page)) return page;
  await withLock(join(web, "dist.lock"), { signal }, async () => {
    if (await isFresh(root, page)) return;
    onBuild?.();
    // What is saved meanwhile is newer than what was read.
    const begun = new Date();
    await build(program, signal);
    await utimes(join(page, "index.html"), begun, begun);
  });
  return page;
}

async function isFresh(root: string, page: string): Promise<boolean> {
  const built = await changedAt(join(page, "index.html"));
  if (built === undefined) return false;
  for await (const path of glob(sources, { cwd: root })) {
    if (isNoSource.test(path)) continue;
    if (((await changedAt(join(root, path))) ?? 0) > built) return false;
  }
  return true;
}

/** Milliseconds since the epoch; undefined when there is no such file. */
const changedAt = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/** In a process of its own: what builds it is large, and nobody needs it afterwards. */
async function build(program: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [program], {
      signal,
      env: { ...process.env, NODE_ENV: "production" },
    });
  } catch (error) {
    signal?.throwIfAborted();
    const { stderr = "" } = error as { stderr?: string };
    const missing = /Cannot find package '([^']+)'/.exec(stderr)?.[1];
    throw new AbsentError(
      missing === undefined
        ? `expected the page to be built by ${program}, but it could not be:\n${stderr.trim() || (error as Error).message}`
        : `expected the package ${missing}, which builds the dashboard's page, found none. It comes with the development dependencies: npm ci`,
    );
  }
}
