/** Debian's headless Chromium: installed where it is missing, and driven by Playwright. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { withLock } from "../../deploy/local/binaries/lock.ts";

const run = promisify(execFile);
/** The headless shell comes first: it takes two thirds of the CPU time of the others. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The path of the first of them that is there, if any is. */
function installed(): string | undefined {
  const paths = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => [...paths, "/usr/bin"].map((path) => join(path, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Installs a browser where none is and this process can do that; elsewhere the first browser that is opened throws. */
async function installChromium(): Promise<void> {
  if (installed() !== undefined || process.getuid?.() !== 0) return;
  // Two test processes may be at it, also of two runs, which share no temporary folder.
  await withLock("/run/denrei-chromium.lock", {}, async () => {
    if (installed() !== undefined) return;
    const installOne = (name: string) =>
      run("apt-get", ["install", "--yes", "--no-install-recommends", name]);
    // Some Debian and Ubuntu releases have no headless shell.
    const install = () => installOne("chromium-headless-shell").catch(() => installOne("chromium"));
    // A machine that was just made has no lists, or old ones.
    await install().catch(async () => {
      await run("apt-get", ["update"]);
      await install();
    });
  }).catch(() => undefined);
}

await installChromium();

let shared: Promise<Browser> | undefined;

/** The browser of all test files that run in this process. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}

/** A browser of one's own. It talks to nobody but to the pages that it is shown. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = installed();
  if (executablePath === undefined)
    throw new Error(
      `expected one of ${names.join(", ")} in PATH, found none. On Debian and Ubuntu: apt-get install chromium`,
    );
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
