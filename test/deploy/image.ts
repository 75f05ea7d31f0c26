/** Builds the image's files by running the Dockerfile without a container engine, and runs programs among them. */
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
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { allOf, type Instruction, runStage, stageNamed, stagesOf } from "./dockerfile.ts";
import { root } from "./manifests.ts";

const run = promisify(execFile);

/**
 * Published sizes in bytes, for amd64: the unpacked `debian:bookworm-slim` of 2026-09-18, the base of the node image
 * (docker-library/repo-info, repos/debian/local/bookworm-slim.md), libatomic1, which the node image adds, and Node's license.
 */
export const publishedBytes = 74_830_000 + 46_000 + 158_000;

/** The image in a read-only folder. */
export interface Image {
  /** Stands for `/`, without the files of Debian. */
  readonly folder: string;
  /** The working directory. */
  readonly app: string;
  readonly stages: readonly Instruction[][];
  readonly lastStage: readonly Instruction[];
  /** A command line that runs the image's Node, as the image's user if this process can switch to it. */
  command(args: readonly string[]): { readonly command: string; readonly args: string[] };
  remove(): Promise<void>;
}

/** Builds the image from deploy/Dockerfile. */
export async function makeImage(): Promise<Image> {
  const stages = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8"));
  const lastStage = stages.at(-1) ?? [];
  const scratch = await mkdtemp(join(tmpdir(), "test-image-"));
  await chmod(scratch, 0o755);
  const [folder, dependencies] = [join(scratch, "image"), join(scratch, "dependencies")];
  await nodeImage(folder);
  await runStage(stageNamed(stages, "system"), folder);
  const install = allOf(stageNamed(stages, "dependencies"), "RUN").find((one) => one.startsWith("npm ci"));
  await installed(
    join(dependencies, "app"),
    [...(install ?? "").matchAll(/--workspace=(\S+)/g)].map(([, name = ""]) => name),
  );
  await runStage(stageNamed(stages, "dependencies"), dependencies);
  const built = await builtFiles(stages, join(scratch, "built"));
  const app = join(folder, allOf(lastStage, "WORKDIR")[0] ?? "");
  await mkdir(app);
  await rename(join(dependencies, "app/node_modules"), join(app, "node_modules"));
  for (const rest of allOf(stageNamed(stages, "app"), "COPY")) {
    const [, from = "", to = ""] = /^--from=built \/app\/(\S+) (\S+)$/.exec(rest) ?? [];
    if (from !== "") await cp(join(built, from), join(app, to), { recursive: true });
  }
  await runStage(stageNamed(stages, "app"), folder);
  await runStage(lastStage, folder);
  await run("chmod", ["-R", "a-w,a+rX", folder]);
  const node = join(folder, "usr/local/bin/node");
  return {
    folder,
    app,
    stages,
    lastStage,
    command: (args) => asUser(allOf(lastStage, "USER").at(-1) ?? "", [node, ...args]),
    async remove() {
      await run("chmod", ["-R", "u+w", scratch]);
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** A command line that runs a program as the user of a Dockerfile, `uid:gid`, if this process can switch to it. */
export function asUser(user: string, [program = "", ...args]: readonly string[]) {
  const [uid, gid] = user.split(":");
  return process.getuid?.() === 0
    ? {
        command: "setpriv",
        args: [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", program, ...args],
      }
    : { command: program, args };
}

/** Builds the page and the bundle like their stage, with the installed packages. Returns the stage's working directory. */
async function builtFiles(stages: readonly Instruction[][], folder: string): Promise<string> {
  await mkdir(join(folder, "app"), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "app/node_modules"));
  await runStage(stageNamed(stages, "built"), folder);
  return join(folder, "app");
}

/**
 * Copies what `npm ci --omit=dev --omit=optional` would install for the workspaces of its command line from the installed packages,
 * by the same lock file.
 */
async function installed(folder: string, workspaces: readonly string[]): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as LockFile;
  const paths = closureOf(lock, workspaces);
  for (const path of [...paths].sort())
    await cp(join(root, path), join(folder, path), {
      recursive: true,
      verbatimSymlinks: true,
      // Packages within a package have entries of their own.
      filter: (source) => source === join(root, path) || !source.endsWith(`${sep}node_modules`),
    });
}

/** Paths below `node_modules` that workspaces need in production: the same search as Node's. */
function closureOf({ packages }: LockFile, workspaces: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (from: string): void => {
    const { dependencies = {} } = packages[from] ?? {};
    for (const name of Object.keys(dependencies)) {
      const path = resolvedFrom(packages, from, name);
      if (found.has(path)) continue;
      found.add(path);
      visit(packages[path]?.link ? (packages[path]?.resolved ?? "") : path);
    }
  };
  for (const workspace of workspaces) {
    found.add(join("node_modules", packages[workspace]?.name ?? ""));
    visit(workspace);
  }
  return found;
}

function resolvedFrom(packages: LockFile["packages"], from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = join(folder.startsWith("node_modules") ? folder : "", "node_modules", name);
    if (path in packages) return path;
    if (folder === "") throw new Error(`package-lock.json has no ${name} for ${from}`);
  }
}

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly link?: boolean;
        readonly resolved?: string;
        readonly dependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}

/**
 * Creates the files of the node image in /usr/local and /opt according to its published history (docker-library/repo-info,
 * repos/node/remote/24.21.0-slim.md): Node's archive, and Yarn. Files that the Dockerfile removes are empty.
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

/** Sizes of all files below a folder, in bytes, by path. */
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
