/** The node's initial images, built from local programs without a registry. */
import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { goBuild } from "../binaries/gobuild.ts";
import { makeFolder } from "../makefolder.ts";
import { type ImageConfiguration, writeImage } from "./ociimage.ts";

/** The sandbox image, which holds the namespaces of every pod. */
export const pauseImage = "localhost/pause:1";

/** The user of images that do not define one. */
const defaultUser = "65532:65532";

/** Builds an image from a temporary folder, which `fill` fills. */
export async function makeImage(
  archive: string,
  image: ImageConfiguration,
  fill: (root: string) => Promise<void>,
): Promise<void> {
  await makeFolder(dirname(archive));
  const root = await mkdtemp(`${archive}-root-`);
  try {
    await fill(root);
    await writeImage(root, archive, image);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Builds the sandbox image. */
export const makePauseImage = (archive: string, env: NodeJS.ProcessEnv): Promise<void> =>
  makeImage(
    archive,
    {
      name: pauseImage,
      entrypoint: ["/pause"],
      environment: [],
      workingDirectory: "/",
      user: defaultUser,
    },
    async (root) => {
      const goPackage = { module: "pause", path: "denrei.dev/tools/pause", ldflags: "-s -w" };
      await goBuild(goPackage, { output: join(root, "pause"), env, onElapsed: () => undefined });
    },
  );

/** Builds an image with a single static program. */
export const makeProgramImage = (archive: string, name: string, program: string): Promise<void> =>
  makeImage(
    archive,
    {
      name,
      entrypoint: [`/usr/local/bin/${program.split("/").at(-1)}`],
      environment: ["PATH=/usr/local/bin"],
      workingDirectory: "/",
      user: defaultUser,
    },
    async (root) => {
      await mkdir(join(root, "usr/local/bin"), { recursive: true });
      const path = join(root, "usr/local/bin", program.split("/").at(-1) as string);
      await copyFile(program, path);
      await chmod(path, 0o755);
    },
  );

/** Copies the shared libraries of a local program into the root of an image, to the same paths. */
export async function copyLibraries(root: string, program: string): Promise<void> {
  await mkdir(join(root, "tmp"), { recursive: true });
  for (const library of await librariesOf(program)) {
    await mkdir(join(root, dirname(library)), { recursive: true });
    await cp(await realpath(library), join(root, library));
  }
}

/** The paths that the dynamic linker resolves for a program, including the linker itself. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ldd", [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string);
}
