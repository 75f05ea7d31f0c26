/**
 * `npm run supply-chain -- images`: whether the tags of images still are what the manifests say; `--write` records what they are.
 * `npm run supply-chain -- attestations <folder>`: whether an image in the OCI layout has an SBOM and a provenance.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { missingAttestations } from "./attestations.ts";
import { type Inspect, imageProblems, imageUses, recordDigests } from "./images.ts";

/** Asks the registry through Docker, which knows its mirrors and logins. */
const inspect: Inspect = async (name) => {
  const args = ["buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}"];
  const digest = (await promisify(execFile)("docker", args)).stdout.trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`expected the digest of ${name}, found "${digest}"`);
  return digest;
};

async function problemsOf(): Promise<readonly string[]> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { write: { type: "boolean", default: false }, root: { type: "string" } },
  });
  const [command, folder, ...more] = positionals;
  const root = values.root ?? fileURLToPath(new URL("../..", import.meta.url));
  if (command === "images" && folder === undefined) {
    const uses = await imageUses(root);
    if (!values.write) return imageProblems(uses, inspect);
    for (const line of await recordDigests(root, uses, inspect)) console.log(line);
    return [];
  }
  if (command === "attestations" && folder !== undefined && more.length === 0)
    return missingAttestations(folder);
  return ['expected "images", "images --write", or "attestations <folder>"'];
}

const problems = await problemsOf().catch((error: Error) => [error.message]);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
