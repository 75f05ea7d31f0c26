/**
 * Writes OCI image archives with one layer, without a container engine.
 * https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create } from "tar";
import { makeFolder } from "../makefolder.ts";

/** Name and configuration of an image. */
export interface ImageConfiguration {
  /** With registry and tag, as containerd stores it: `docker.io/library/denrei:0.1.0`. */
  readonly name: string;
  readonly entrypoint: readonly string[];
  readonly environment: readonly string[];
  readonly workingDirectory: string;
  /** `<uid>:<gid>`. */
  readonly user: string;
}

const mediaTypes = {
  layer: "application/vnd.oci.image.layer.v1.tar",
  config: "application/vnd.oci.image.config.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Writes an image archive from the files of a folder. Keeps links, as container engines do; all files belong to root. */
export async function writeImage(folder: string, archive: string, image: ImageConfiguration): Promise<void> {
  const scratch = await mkdtemp(`${archive}-`);
  try {
    const blobs = join(scratch, "blobs", "sha256");
    await mkdir(blobs, { recursive: true });
    const layerFile = join(scratch, "layer.tar");
    await create({ cwd: folder, file: layerFile, portable: true }, ["."]);
    const layer = await blobOf(blobs, mediaTypes.layer, await readFile(layerFile));
    await rm(layerFile);
    const config = await jsonBlob(blobs, mediaTypes.config, {
      architecture: process.arch === "arm64" ? "arm64" : "amd64",
      os: "linux",
      config: {
        Entrypoint: image.entrypoint,
        Env: image.environment,
        WorkingDir: image.workingDirectory,
        User: image.user,
      },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    });
    const manifest = await jsonBlob(blobs, mediaTypes.manifest, {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: [layer],
    });
    const annotations = { "io.containerd.image.name": image.name };
    await writeFile(
      join(scratch, "index.json"),
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.index,
        manifests: [{ ...manifest, annotations }],
      }),
    );
    await writeFile(join(scratch, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await makeFolder(dirname(archive));
    const file = join(scratch, "archive.tar");
    await create({ cwd: scratch, file, portable: true }, ["oci-layout", "index.json", "blobs"]);
    await rename(file, archive);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const jsonBlob = (blobs: string, mediaType: string, content: object): Promise<Descriptor> =>
  blobOf(blobs, mediaType, Buffer.from(JSON.stringify(content)));

async function blobOf(blobs: string, mediaType: string, content: Buffer): Promise<Descriptor> {
  const hex = createHash("sha256").update(content).digest("hex");
  await writeFile(join(blobs, hex), content);
  return { mediaType, digest: `sha256:${hex}`, size: content.length };
}
