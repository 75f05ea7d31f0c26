/** Brings a checkout to what its code declares, or reports where it differs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { topologyPath } from "./files.ts";
import { changedUnderVersion, topologyIn } from "./topology.ts";
import { staleFiles, writeFiles } from "./tree.ts";

/** The result of a run: lines for standard output and standard error, and the exit code. */
export interface Report {
  readonly out: readonly string[];
  readonly err: readonly string[];
  readonly code: 0 | 1;
}

/**
 * Writes the wanted files below `root`, by path, or only compares them with what is there. A stream that differs under the same
 * version of the topology is an error, and then nothing is written.
 */
export async function bring(
  root: string,
  wanted: ReadonlyMap<string, string>,
  mode: "write" | "check",
): Promise<Report> {
  const declared = join(root, topologyPath);
  const changed = existsSync(declared)
    ? changedUnderVersion(
        topologyIn(readFileSync(declared, "utf8")),
        topologyIn(wanted.get(topologyPath) ?? ""),
      )
    : [];
  if (changed.length > 0)
    return failed([
      `expected a new version of the topology, because these are not what they were: ${changed.join(", ")}. Add one to the version in bus/topology/version.ts; docs/upgrading.md says what else.`,
    ]);
  const upToDate = `${wanted.size} generated files are up to date.`;
  if (mode === "write") {
    const written = (await writeFiles(root, wanted)).map(({ path, reason }) =>
      reason === "no longer generated" ? `removed ${path}` : `wrote ${path}`,
    );
    return { out: [...written, upToDate], err: [], code: 0 };
  }
  const stale = await staleFiles(root, wanted);
  if (stale.length === 0) return { out: [upToDate], err: [], code: 0 };
  return failed([
    ...stale.map(({ path, reason }) => `${path}: ${reason}`),
    "The generated files are not what the code says. Run `npm run generate` and commit them.",
  ]);
}

const failed = (err: readonly string[]): Report => ({ out: [], err, code: 1 });
