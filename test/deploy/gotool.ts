/** Programs and files from Go modules for tests, pinned in `deploy/local/tools`. */
import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { thisTarget } from "../../deploy/local/binaries/catalogue.ts";
import { goBuild, toolsDirectory } from "../../deploy/local/binaries/gobuild.ts";
import { cacheFolder, isExecutable } from "../../deploy/local/binaries/installed.ts";
import { withLock } from "../../deploy/local/binaries/lock.ts";
import { buildEnv } from "../harness/programs.ts";

/** A module, and the folder below `deploy/local/tools` whose go.mod pins it. */
export interface GoTool {
  readonly folder: string;
  readonly module: string;
}

/** The pinned version, as `v1.2.3`. */
export async function pinnedVersion({ folder, module }: GoTool): Promise<string> {
  const text = await readFile(join(toolsDirectory, folder, "go.mod"), "utf8");
  const line = text.split("\n").find((one) =>
    one
      .replace(/^require /, "")
      .trim()
      .startsWith(`${module} v`),
  );
  const version = / (v\S+)/.exec(line ?? "")?.[1];
  if (version === undefined) throw new Error(`expected ${module} in deploy/local/tools/${folder}/go.mod`);
  return version;
}

/** The path of a program in the module, `program` being the package or "" for the module itself. Built once, then cached. */
export async function goProgram(tool: GoTool, program = ""): Promise<string> {
  const { os, arch } = thisTarget();
  const cached = `${tool.folder}-${(await pinnedVersion(tool)).slice(1)}-${os}-${arch}`;
  const folder = join(dirname(cacheFolder("etcd", process.env)), cached);
  const path = join(folder, tool.folder);
  await mkdir(folder, { recursive: true });
  return withLock(join(folder, "lock"), {}, async () => {
    if (await isExecutable(path)) return path;
    const made = join(folder, "scratch");
    try {
      const goPackage = { module: tool.folder, path: join(tool.module, program), ldflags: "-s -w" };
      await goBuild(goPackage, { output: made, env: buildEnv, onElapsed: () => undefined });
      await rename(made, path);
    } finally {
      await rm(made, { force: true });
    }
    return path;
  });
}

/** The folder with the module's files. Go downloads it if necessary and verifies it against go.sum. */
export async function goModule({ folder, module }: GoTool): Promise<string> {
  const options = { cwd: join(toolsDirectory, folder), env: { ...process.env, GOWORK: "off" } };
  try {
    const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], options);
    return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
  } catch (error) {
    const { stdout, message } = error as Error & { readonly stdout?: string };
    throw new Error(
      `go mod download of ${module} failed in deploy/local/tools/${folder}: ${stdout || message}. ` +
        "Install Go (https://go.dev/dl), and allow access to a Go module proxy (GOPROXY).",
      { cause: error },
    );
  }
}
