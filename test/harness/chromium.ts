/** Headless Chromium from Debian: installed if missing, driven by Playwright. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { withLock } from "../../deploy/local/binaries/lock.ts";

const run = promisify(execFile);
/** The headless shell is first because it takes two thirds of the CPU time of the others. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The path of the first installed browser; undefined without one. */
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

/** Installs a missing browser if this process may do so. Otherwise opening the first browser throws. */
async function installChromium(): Promise<void> {
  if (installed() !== undefined || process.getuid?.() !== 0) return;
  // Two test processes may try this at once, even of two runs, which share no temporary folder.
  await withLock("/run/denrei-chromium.lock", {}, async () => {
    if (installed() !== undefined) return;
    const installOne = (name: string) =>
      run("apt-get", ["install", "--yes", "--no-install-recommends", name]);
    // Some Debian and Ubuntu releases have no headless shell.
    const install = () => installOne("chromium-headless-shell").catch(() => installOne("chromium"));
    // A fresh machine has no package lists, or old ones.
    await install().catch(async () => {
      await run("apt-get", ["update"]);
      await install();
    });
  }).catch(() => undefined);
}

await installChromium();

let shared: Promise<Browser> | undefined;

/** The browser of all test files in this process. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}

/** Opens a separate browser. It connects to nothing but the pages under test. */
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
