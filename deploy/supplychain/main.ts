/**
 * `npm run supply-chain -- images`: fails when the tag of an image has moved. It lists images without a recorded digest, and
 * writes the list to the file of `--unrecorded`, which is empty when every image has a digest. `--write` records the current
 * digests of the tags.
 * `npm run supply-chain -- attestations <folder>`: fails when an image in the OCI layout lacks an SBOM or a provenance.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { missingAttestations } from "./attestations.ts";
import { type ImageUse, type Inspect, imageProblems, imageUses, recordDigests } from "./images.ts";

/** Queries the registry through Docker, which knows its mirrors and logins. */
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
    options: {
      write: { type: "boolean", default: false },
      unrecorded: { type: "string" },
      root: { type: "string" },
    },
  });
  const [command, folder, ...more] = positionals;
  const root = values.root ?? fileURLToPath(new URL("../..", import.meta.url));
  if (command === "images" && folder === undefined) {
    const uses = await imageUses(root);
    if (!values.write) return movedImages(uses, values.unrecorded);
    for (const line of await recordDigests(root, uses, inspect)) console.log(line);
    return [];
  }
  if (command === "attestations" && folder !== undefined && more.length === 0)
    return missingAttestations(folder);
  return ['expected "images", "images --write", or "attestations <folder>"'];
}

async function movedImages(uses: readonly ImageUse[], list: string | undefined): Promise<readonly string[]> {
  const { moved, unrecorded } = await imageProblems(uses, inspect);
  for (const line of unrecorded) console.log(line);
  const lines = unrecorded.map((line) => `* ${line}\n`).join("");
  const text = `Check these digests, then run \`npm run supply-chain -- images --write\` and commit:\n\n${lines}`;
  if (list !== undefined) await writeFile(list, unrecorded.length === 0 ? "" : text);
  return moved;
}

const problems = await problemsOf().catch((error: Error) => [error.message]);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
