/**
 * The image of the product, without Docker: what the last stage of the Dockerfile copies, over this machine's Node and its libraries in
 * place of the base image, which is a registry's.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { layNode, makeImage } from "../../deploy/local/node/images.ts";
import { allOf, layOut, stagesOf } from "../deploy/dockerfile.ts";
import { root } from "../deploy/manifests.ts";

/** Writes the archive of the image, as containerd is to know it. */
export async function makeProductImage(archive: string, name: string): Promise<void> {
  const stage = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8")).at(-1) ?? [];
  const [entrypoint = "[]"] = allOf(stage, "ENTRYPOINT");
  const [workingDirectory = "/"] = allOf(stage, "WORKDIR");
  const [user = ""] = allOf(stage, "USER");
  const environment = ["PATH=/usr/local/bin", ...allOf(stage, "ENV")];
  await makeImage(
    archive,
    { name, entrypoint: JSON.parse(entrypoint), workingDirectory, user, environment },
    async (folder) => {
      await layNode(folder);
      await layOut(stage, join(folder, workingDirectory));
    },
  );
}
