/**
 * Checksums of releases that are recorded in this repository, so that a host that serves another file together with another checksum
 * is found out. `npm run checksums` records them; where one is not recorded, what the publisher's host states has to do.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** SHA-256 by the official address of the file. */
export type Checksums = Readonly<Record<string, string>>;

/** Where they are. */
export const checksumsPath = fileURLToPath(new URL("./checksums.json", import.meta.url));

/** All that are recorded: here, or in the file that `DENREI_RELEASES_CHECKSUMS` names. */
export const recordedChecksums = (env: NodeJS.ProcessEnv): Checksums =>
  JSON.parse(readFileSync(env.DENREI_RELEASES_CHECKSUMS ?? checksumsPath, "utf8"));
