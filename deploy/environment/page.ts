/** The dashboard's page: built from sources in a checkout, and part of the image. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AbsentError } from "denrei/runtime";
import { withLock } from "../local/binaries/lock.ts";

/** How to find or build the page. */
export interface PageOptions {
  /** The root of the repository; of this one unless given. */
  readonly root?: string;
  /** Called when a build begins. */
  readonly onBuild?: () => void;
  readonly signal?: AbortSignal | undefined;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Sources of the page: its own files, and folders that it may import from. */
const sources = [
  "dashboard/**/*.{ts,tsx,css,svg,html}",
  "functions/**/*.ts",
  "bus/**/*.ts",
  "docs/operations.md",
  "package-lock.json",
];
const isNoSource = /(^|\/)(dist|node_modules)\/|\.test\.tsx?$/;

/** Returns the folder of the built page, after building it if it is missing or older than its sources. Throws an `AbsentError` when it cannot be built. */
export async function builtPage({ root = repository, onBuild, signal }: PageOptions = {}): Promise<string> {
  const web = join(root, "dashboard/web");
  const page = join(web, "dist");
  const program = join(web, "build.ts");
  if (!existsSync(program)) {
    // The image has no sources.
    if (existsSync(join(page, "index.html"))) return page;
    throw new AbsentError(
      `the dashboard's page is missing: neither ${page} nor ${program} exists. Use a complete checkout, or the image.`,
    );
  }
  if (await isFresh(root, page)) return page;
  await withLock(join(web, "dist.lock"), { signal }, async () => {
    if (await isFresh(root, page)) return;
    onBuild?.();
    // A file that is saved during the build is newer than the page.
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

/** Builds in a child process: the bundler is large, and is needed only once. */
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
        ? `${program} failed to build the page:\n${stderr.trim() || (error as Error).message}`
        : `the package ${missing}, which builds the dashboard's page, is not installed. Install the development dependencies: npm ci`,
    );
  }
}
