/** The image's files, made by carrying out the Dockerfile without an engine, and programs run among them. */
import { execFile } from "node:child_process";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { allOf, carryOut, type Instruction, stageNamed, stagesOf } from "./dockerfile.ts";
import { root } from "./manifests.ts";

const run = promisify(execFile);

/**
 * What is not measured but published, in bytes, for amd64: `debian:bookworm-slim` of 2026-09-18 on disk, of which the node
 * image is made (docker-library/repo-info, repos/debian/local/bookworm-slim.md), libatomic1, which that adds, and Node's
 * license.
 */
export const publishedBytes = 74_830_000 + 46_000 + 158_000;

/** The image in a folder. Nothing in it can be written to. */
export interface Image {
  /** Stands for `/`, without Debian. */
  readonly folder: string;
  /** The working directory. */
  readonly app: string;
  readonly stages: readonly Instruction[][];
  readonly lastStage: readonly Instruction[];
  /** A command line that runs the image's Node, as the image's user where this process may become it. */
  command(args: readonly string[]): { readonly command: string; readonly args: string[] };
  remove(): Promise<void>;
}

/** Carries out deploy/Dockerfile. */
export async function makeImage(): Promise<Image> {
  const stages = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8"));
  const lastStage = stages.at(-1) ?? [];
  const scratch = await mkdtemp(join(tmpdir(), "test-image-"));
  await chmod(scratch, 0o755);
  const [folder, dependencies] = [join(scratch, "image"), join(scratch, "dependencies")];
  await nodeImage(folder);
  await carryOut(stageNamed(stages, "system"), folder);
  await installed(join(dependencies, "app"));
  await carryOut(stageNamed(stages, "dependencies"), dependencies);
  const page = await builtPage(stages, join(scratch, "page"));
  const app = join(folder, allOf(lastStage, "WORKDIR")[0] ?? "");
  await mkdir(app);
  await rename(join(dependencies, "app/node_modules"), join(app, "node_modules"));
  await carryOut(stageNamed(stages, "app"), folder);
  await cp(page, join(app, "dashboard/web/dist"), { recursive: true });
  await carryOut(lastStage, folder);
  await run("chmod", ["-R", "a-w,a+rX", folder]);
  const [uid, gid] = (allOf(lastStage, "USER")[0] ?? "").split(":");
  const node = join(folder, "usr/local/bin/node");
  return {
    folder,
    app,
    stages,
    lastStage,
    command: (args) =>
      process.getuid?.() === 0
        ? {
            command: "setpriv",
            args: [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", node, ...args],
          }
        : { command: node, args: [...args] },
    async remove() {
      await run("chmod", ["-R", "u+w", scratch]);
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** Builds the dashboard's page as its stage does, with the packages that are installed here. The folder that it is in. */
async function builtPage(stages: readonly Instruction[][], folder: string): Promise<string> {
  await mkdir(join(folder, "app"), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "app/node_modules"));
  await carryOut(stageNamed(stages, "page"), folder);
  return join(folder, "app/dashboard/web/dist");
}

/** What `npm ci --omit=dev --omit=optional` installs, from what is installed here by the same lock file. */
async function installed(folder: string): Promise<void> {
  const lock: { packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }> } =
    JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const omitted = Object.entries(lock.packages)
    .filter(([, { dev, optional, devOptional }]) => dev || optional || devOptional)
    .map(([path]) => path);
  const left = new Set(omitted.map((path) => resolve(root, path)));
  // npm's and other tools' own: they begin with a dot.
  const own = join(root, "node_modules", ".");
  await cp(join(root, "node_modules"), join(folder, "node_modules"), {
    recursive: true,
    filter: (path) => !left.has(path) && !path.startsWith(`${own}${sep}.`),
  });
}

/**
 * What the node image has in /usr/local and /opt, by the history that is published with it (docker-library/repo-info,
 * repos/node/remote/24.21.0-slim.md): Node's archive, and Yarn. Of what is not to stay, only names.
 */
async function nodeImage(folder: string): Promise<void> {
  const names = [
    ...["CHANGELOG.md", "LICENSE", "README.md", "include/node/node.h", "share/man/man1/node.1"],
    ...["lib/node_modules/npm/package.json", "lib/node_modules/corepack/package.json"],
    ...["nodejs", "npm", "npx", "corepack", "yarn", "yarnpkg", "docker-entrypoint.sh"].map(
      (one) => `bin/${one}`,
    ),
  ];
  for (const name of [...names.map((one) => join("usr/local", one)), "opt/yarn-v1.22.22/bin/yarn.js"]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), "");
  }
  await cp(process.execPath, join(folder, "usr/local/bin/node"));
}

/** The sizes of all files below a folder, in bytes, by path. */
export async function filesBelow(folder: string): Promise<Map<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
  const sizes = await Promise.all(
    files.map(async (file) => [file.slice(folder.length + 1), (await stat(file)).size] as const),
  );
  return new Map(sizes);
}
