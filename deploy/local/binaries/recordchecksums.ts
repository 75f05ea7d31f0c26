/**
 * `npm run checksums`: downloads the releases of all programs for all targets, and records the checksums of those that match
 * what their publisher states. Run it after changing versions and review the diff: the checksum of an unchanged version
 * never changes.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BinaryName } from "../versions.ts";
import { catalogue, releaseHosts, type Target } from "./catalogue.ts";
import { checksumsPath, recordedChecksums } from "./checksums.ts";
import { download } from "./download.ts";

const targets: readonly Target[] = ["linux", "darwin"].flatMap((os) =>
  ["amd64", "arm64"].map((arch) => ({ os, arch })),
);
const timeouts = { connectMillis: 30_000, stallMillis: 60_000 };

const previous = recordedChecksums({});
const recorded: Record<string, string> = {};
const failures: string[] = [];
const scratch = await mkdtemp(join(tmpdir(), "denrei-checksums-"));
try {
  for (const name of Object.keys(catalogue) as BinaryName[]) {
    for (const target of targets) {
      const release = catalogue[name].release(target, releaseHosts({}));
      if (release === undefined) continue;
      try {
        const found = await download(
          { ...release, path: join(scratch, "file"), onBytes: () => undefined },
          { timeouts },
        );
        if (previous[release.url] !== undefined && previous[release.url] !== found)
          throw new Error(
            `the checksum of ${release.url} changed from ${previous[release.url]} to ${found}. Find out why before you trust it.`,
          );
        recorded[release.url] = found;
        console.log(`${found}  ${release.url}`);
      } catch (error) {
        failures.push((error as Error).message);
        if (previous[release.url] !== undefined) recorded[release.url] = previous[release.url] as string;
      }
    }
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
await writeFile(checksumsPath, `${JSON.stringify(recorded, null, 2)}\n`);
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;
