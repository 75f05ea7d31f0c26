/** The image of a project, built by running its Dockerfile without a container engine. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { allOf, runStage, stageNamed, stagesOf } from "../deploy/dockerfile.ts";
import { asUser } from "../deploy/image.ts";

/** The image. */
export interface ProjectImage {
  /** The working directory. */
  readonly app: string;
  /** A command line that runs the entry point with arguments, as the image's user if this process can switch to it. */
  command(args: readonly string[]): { readonly command: string; readonly args: string[] };
  /** The environment of its processes. */
  readonly env: Readonly<Record<string, string>>;
}

/** Builds it in a folder beside the project. Its lock file refers to `tarballs`, a further folder there. */
export async function makeProjectImage(
  project: string,
  tarballs: string,
  folder: string,
): Promise<ProjectImage> {
  const stages = stagesOf(await readFile(join(project, "Dockerfile"), "utf8"));
  const [build, image] = [stageNamed(stages, "build"), stages.at(-1) ?? []];
  const built = join(folder, "build");
  const node = join(folder, "usr/local/bin/node");
  await mkdir(dirname(node), { recursive: true });
  await cp(process.execPath, node);
  // Other users start its processes.
  await chmod(dirname(folder), 0o755);
  await mkdir(built);
  await symlink(tarballs, join(built, basename(tarballs)));
  await runStage(build, built, {
    context: project,
    npmCi: (cwd, args) => promisify(execFile)("npm", [...args, "--no-audit", "--no-fund"], { cwd }),
  });
  const app = join(folder, allOf(image, "WORKDIR").at(-1) ?? "");
  const [, from = "", to = ""] = /^--from=build (\S+) (\S+)$/.exec(allOf(image, "COPY")[0] ?? "") ?? [];
  await cp(join(built, from), join(app, to), { recursive: true });
  await runStage(image, folder, { context: project });
  const [program, ...first] = JSON.parse(allOf(image, "ENTRYPOINT")[0] ?? "[]") as string[];
  const pairs = allOf(image, "ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=")));
  const env = Object.fromEntries(pairs) as Record<string, string>;
  return {
    app,
    command: (args) =>
      asUser(allOf(image, "USER").at(-1) ?? "", [join(dirname(node), program ?? ""), ...first, ...args]),
    env: { ...env, NODE_COMPILE_CACHE: join(folder, env.NODE_COMPILE_CACHE ?? "") },
  };
}
