/**
 * Attestations of an image: its packages (SBOM) and its build (provenance). BuildKit stores both in the image index:
 * https://github.com/moby/buildkit/blob/master/docs/attestations/attestation-storage.md
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const descriptor = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  annotations: z.record(z.string(), z.string()).default({}),
});
const indexSchema = z.object({ manifests: z.array(descriptor) });
const manifestSchema = z.object({ layers: z.array(descriptor) });

const kinds = [
  ["an SBOM", /^https:\/\/spdx\.dev\/Document/],
  ["a provenance", /^https:\/\/slsa\.dev\/provenance\//],
] as const;

/** Lists the missing attestations of the images in an OCI layout, a sentence each. Rejects when the folder is not an OCI layout. */
export async function missingAttestations(folder: string): Promise<string[]> {
  const read = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, path), "utf8"));
  const blob = (digest: string) => read(join("blobs", ...digest.split(":")));
  const problems: string[] = [];
  for (const { digest: top } of indexSchema.parse(await read("index.json")).manifests) {
    const { manifests = [] } = indexSchema.partial().parse(await blob(top));
    const isAttestation = ({ annotations }: z.infer<typeof descriptor>) =>
      annotations["vnd.docker.reference.type"] === "attestation-manifest";
    const images = manifests.filter((manifest) => !isAttestation(manifest));
    if (images.length === 0) problems.push(`${top}: expected an index of images, found none`);
    for (const { digest } of images) {
      const about = manifests.filter(
        (manifest) =>
          isAttestation(manifest) && manifest.annotations["vnd.docker.reference.digest"] === digest,
      );
      const attestations = await Promise.all(
        about.map(async (manifest) => manifestSchema.parse(await blob(manifest.digest)).layers),
      );
      const types = attestations
        .flat()
        .map(({ annotations }) => annotations["in-toto.io/predicate-type"] ?? "");
      for (const [what, kind] of kinds)
        if (!types.some((type) => kind.test(type))) problems.push(`${digest}: expected ${what}, found none`);
    }
  }
  return problems;
}
