/** Writes generated files into a checkout, or reports the outdated ones. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { topologyPath } from "./files.ts";
import { staleFiles, writeFiles } from "./stalefiles.ts";
import { changedUnderVersion, topologyIn } from "./topology.ts";

/** The result of a run: lines for standard output and standard error, and the exit code. */
export interface Report {
  readonly out: readonly string[];
  readonly err: readonly string[];
  readonly code: 0 | 1;
}

/**
 * Writes the desired files, by path below `root`, or only compares them with the files on disk. If a stream or consumer
 * changed under the same version of the topology, this is an error, and nothing is written.
 */
export async function syncFiles(
  root: string,
  desired: ReadonlyMap<string, string>,
  mode: "write" | "check",
): Promise<Report> {
  const declared = join(root, topologyPath);
  const changed = existsSync(declared)
    ? changedUnderVersion(
        topologyIn(readFileSync(declared, "utf8")),
        topologyIn(desired.get(topologyPath) ?? ""),
      )
    : [];
  if (changed.length > 0)
    return failed([
      `these streams or consumers changed under the same topology version: ${changed.join(", ")}. Increase the version in bus/topology/version.ts and follow docs/upgrading.md.`,
    ]);
  const upToDate = `${desired.size} generated files are up to date.`;
  if (mode === "write") {
    const written = (await writeFiles(root, desired)).map(({ path, reason }) =>
      reason === "no longer generated" ? `removed ${path}` : `wrote ${path}`,
    );
    return { out: [...written, upToDate], err: [], code: 0 };
  }
  const stale = await staleFiles(root, desired);
  if (stale.length === 0) return { out: [upToDate], err: [], code: 0 };
  return failed([
    ...stale.map(({ path, reason }) => `${path}: ${reason}`),
    "The generated files do not match the code. Run `npm run generate` and commit them.",
  ]);
}

const failed = (err: readonly string[]): Report => ({ out: [], err, code: 1 });
