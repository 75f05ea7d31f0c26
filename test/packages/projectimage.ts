/** The image of a project, built by running its Dockerfile without a container engine. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { allOf, runStage, stagesOf } from "../deploy/dockerfile.ts";
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
  const [, stage = []] = stagesOf(await readFile(join(project, "Dockerfile"), "utf8"));
  const node = join(folder, "usr/local/bin/node");
  await mkdir(dirname(node), { recursive: true });
  await cp(process.execPath, node);
  // Other users start its processes.
  await chmod(dirname(folder), 0o755);
  await symlink(tarballs, join(folder, basename(tarballs)));
  await runStage(stage, folder, {
    context: project,
    npmCi: (cwd, args) => promisify(execFile)("npm", [...args, "--no-audit", "--no-fund"], { cwd }),
  });
  const app = join(folder, allOf(stage, "WORKDIR").at(-1) ?? "");
  const [program, ...first] = JSON.parse(allOf(stage, "ENTRYPOINT")[0] ?? "[]") as string[];
  const pairs = allOf(stage, "ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=")));
  const env = Object.fromEntries(pairs) as Record<string, string>;
  return {
    app,
    command: (args) =>
      asUser(allOf(stage, "USER").at(-1) ?? "", [join(dirname(node), program ?? ""), ...first, ...args]),
    env: { ...env, NODE_COMPILE_CACHE: join(folder, env.NODE_COMPILE_CACHE ?? "") },
  };
}
