/**
 * The image of the product, without Docker: what the Dockerfile makes, over this machine's libraries in place of Debian, which is a
 * registry's.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { layLibraries, makeImage as writeImageOf } from "../../deploy/local/node/images.ts";
import { allOf } from "../deploy/dockerfile.ts";
import { makeImage } from "../deploy/image.ts";

/** Writes the archive of the image, as containerd is to know it. */
export async function makeProductImage(archive: string, name: string): Promise<void> {
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
      await layLibraries(root, process.execPath);
    });
  } finally {
    await image.remove();
  }
}
