/**
 * Global setup: one folder for all temporary files of the tests, in memory if there is enough. It is removed after the last test,
 * and also when the run is interrupted.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledBefore } from "./quick.ts";

const memory = "/dev/shm";
/** Three control planes, plus a checkout or an image. */
const enoughBytes = 12 * 2 ** 30;

/**
 * Waits for the end of standard input, whose other end only this process holds, and removes the folder. It first waits for the
 * runs of local platforms in the folder: their reapers find the servers to stop in there. Processes that are about to exit may
 * still write, so the removal is repeated.
 */
export const remover = `
any_run() {
  for owner in "$0"/denrei-*/owner.json; do
    [ -e "$owner" ] && return 0
  done
  return 1
}
cat >/dev/null
left=3000
while any_run; do
  [ "$left" -gt 0 ] || exit
  sleep 0.2
  left=$((left - 1))
done
left=100
until rm -rf "$0" 2>/dev/null || [ "$left" -eq 0 ]; do sleep 0.1; left=$((left - 1)); done
`;

export default async function setup(): Promise<() => Promise<void>> {
  // The compile cache is shared between runs, so it stays outside the folder.
  Object.assign(process.env, compiledBefore);
  const folder = await mkdtemp(join(await roomyFolder(), "test-denrei-"));
  // The image runs as another user, who needs access to files in here.
  await chmod(folder, 0o711);
  const removing = spawn("/bin/sh", ["-c", remover, folder], {
    stdio: ["pipe", "ignore", "ignore"],
    // Ctrl-C is for the others.
    detached: true,
    cwd: "/",
  });
  removing.unref();
  process.env.TMPDIR = folder;
  return async () => {
    const removed = once(removing, "exit");
    removing.ref();
    removing.stdin.end();
    await removed;
  };
}

async function roomyFolder(): Promise<string> {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free >= enoughBytes ? memory : tmpdir();
}
