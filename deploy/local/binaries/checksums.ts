/**
 * Checksums of releases, recorded in this repository. They detect a host that serves a modified file with a matching checksum.
 * `npm run checksums` records them. Without a recorded checksum, the one from the publisher's host counts.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** SHA-256 by the official URL of the file. */
export type Checksums = Readonly<Record<string, string>>;

/** The file with the checksums. */
export const checksumsPath = fileURLToPath(new URL("./checksums.json", import.meta.url));

/** All recorded checksums, from this repository or from the file in `DENREI_RELEASES_CHECKSUMS`. */
export const recordedChecksums = (env: NodeJS.ProcessEnv): Checksums =>
  JSON.parse(readFileSync(env.DENREI_RELEASES_CHECKSUMS ?? checksumsPath, "utf8"));
