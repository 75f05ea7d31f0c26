/** Before the first test: servers write their files to memory where there is much of it. A test deletes them at its end anyway. */
import { statfs } from "node:fs/promises";
import { compiledBefore } from "./quick.ts";

const folder = "/dev/shm";
/** Three control planes, and a checkout or an image beside them. */
const enoughBytes = 12 * 2 ** 30;

export default async function setup(): Promise<void> {
  // It stays where it is: other runs have filled it.
  Object.assign(process.env, compiledBefore);
  if (process.env.TMPDIR !== undefined) return;
  const free = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (free >= enoughBytes) process.env.TMPDIR = folder;
}
