/** Publishes the packed packages of a release to the npm registry. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** How to publish. */
export interface PublishOptions {
  /** Only checks the packages, and needs no rights. */
  readonly dryRun: boolean;
}

/** The arguments of `npm` for a tarball. A version with a dash is not what `npm install` gives by default. */
export const publishArguments = (
  tarball: string,
  version: string,
  { dryRun }: PublishOptions,
): readonly string[] => [
  "publish",
  tarball,
  "--access=public",
  `--tag=${version.includes("-") ? "next" : "latest"}`,
  ...(dryRun ? ["--dry-run", "--provenance=false"] : ["--provenance"]),
];

/**
 * Publishes a package, unless the registry has this version of it: a failed release can run again. Returns whether it did. Rejects with
 * npm's messages.
 */
export async function publish(
  name: string,
  version: string,
  tarball: string,
  options: PublishOptions,
): Promise<boolean> {
  if (await isPublished(name, version)) return false;
  await run("npm", publishArguments(tarball, version, options)).catch(({ stderr, message }) => {
    throw new Error(`npm publish ${name}@${version}:\n${stderr || message}`);
  });
  return true;
}

async function isPublished(name: string, version: string): Promise<boolean> {
  const answer = run("npm", ["view", `${name}@${version}`, "version", "--json"]);
  return answer.then(
    ({ stdout }) => stdout.includes(version),
    ({ stdout, stderr, message }) => {
      // E404 means that the package does not exist. Other errors say nothing about it.
      if (`${stdout}${stderr}`.includes("E404")) return false;
      throw new Error(`npm view ${name}@${version}:\n${stderr || message}`);
    },
  );
}
