/** The images that the node has from the start, made from programs that are here already: no registry is asked. */
import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { goBuild } from "../binaries/gobuild.ts";
import { type ImageConfiguration, writeImage } from "./ociimage.ts";

/** Holds the namespaces of every pod. */
export const pauseImage = "localhost/pause:1";

/** The user in images that do not name one. */
const nobody = "65532:65532";

/** Makes an image in a folder of its own, which `fill` fills. */
export async function makeImage(
  archive: string,
  image: ImageConfiguration,
  fill: (root: string) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(archive), { recursive: true });
  const root = await mkdtemp(`${archive}-root-`);
  try {
    await fill(root);
    await writeImage(root, archive, image);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The image that holds pods. */
export const makePauseImage = (archive: string, env: NodeJS.ProcessEnv): Promise<void> =>
  makeImage(
    archive,
    {
      name: pauseImage,
      entrypoint: ["/pause"],
      environment: [],
      workingDirectory: "/",
      user: nobody,
    },
    async (root) => {
      const goPackage = { module: "pause", path: "denrei.dev/tools/pause", ldflags: "-s -w" };
      await goBuild(goPackage, { output: join(root, "pause"), env, onElapsed: () => undefined });
    },
  );

/** An image with one static program, and nothing else. */
export const makeProgramImage = (archive: string, name: string, program: string): Promise<void> =>
  makeImage(
    archive,
    {
      name,
      entrypoint: [`/usr/local/bin/${program.split("/").at(-1)}`],
      environment: ["PATH=/usr/local/bin"],
      workingDirectory: "/",
      user: nobody,
    },
    async (root) => {
      await mkdir(join(root, "usr/local/bin"), { recursive: true });
      const path = join(root, "usr/local/bin", program.split("/").at(-1) as string);
      await copyFile(program, path);
      await chmod(path, 0o755);
    },
  );

/** Puts the libraries that a program of this machine needs into the root of an image, where it looks for them. */
export async function layLibraries(root: string, program: string): Promise<void> {
  await mkdir(join(root, "tmp"), { recursive: true });
  for (const library of await librariesOf(program)) {
    await mkdir(join(root, dirname(library)), { recursive: true });
    await cp(await realpath(library), join(root, library));
  }
}

/** The paths that the dynamic linker finds for a program, itself among them. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ldd", [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string);
}
