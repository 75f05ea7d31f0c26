/**
 * Builds the product's image without Docker, from the Dockerfile and this machine's libraries instead of Debian, which would
 * have to come from a registry.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { copyLibraries, makeImage as writeImageOf } from "../../deploy/local/node/images.ts";
import manifest from "../../package.json" with { type: "json" };
import { allOf } from "../deploy/dockerfile.ts";
import { makeImage } from "../deploy/image.ts";

/** Variable with the path of the archive, for processes inside the namespaces. */
export const productImageVariable = "DENREI_TEST_NODE_IMAGE";

/** The image's name in containerd. */
const name = `docker.io/library/denrei:${manifest.version}`;

/** Writes the archive of the image. */
export async function makeProductImage(archive: string): Promise<void> {
  const image = await makeImage();
  try {
    const last = (instruction: string): string => allOf(image.lastStage, instruction)[0] ?? "";
    const configuration = {
      name,
      entrypoint: JSON.parse(last("ENTRYPOINT")) as string[],
      workingDirectory: last("WORKDIR"),
      user: last("USER"),
      environment: last("ENV").split(" "),
    };
    await writeImageOf(archive, configuration, async (root) => {
      await promisify(execFile)("cp", ["--archive", `${image.folder}/.`, root]);
      await promisify(execFile)("chmod", ["-R", "u+w", root]);
      await copyLibraries(root, process.execPath);
    });
  } finally {
    await image.remove();
  }
}
