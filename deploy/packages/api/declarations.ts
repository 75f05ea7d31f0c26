/** Declarations of all packages, where they find each other by name. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publishedManifest } from "../manifest.ts";
import { root, type Workspace } from "../workspaces.ts";

/**
 * Compiles the declarations into a temporary folder with the layout of the repository, and passes it on. Rejects with the compiler's
 * messages.
 */
export async function withDeclarations<T>(
  all: readonly Workspace[],
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(join(root, "dist"), { recursive: true });
  // Below the root, so that modules also find the installed packages.
  const folder = await mkdtemp(join(root, "dist/declarations-"));
  try {
    await compile(folder);
    for (const workspace of all) await link(folder, workspace);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lets other packages import a package by its name. */
async function link(folder: string, { folder: path, manifest }: Workspace): Promise<void> {
  const target = join(folder, "node_modules", manifest.name);
  await mkdir(join(folder, path), { recursive: true });
  await mkdir(dirname(target), { recursive: true });
  await symlink(join(folder, path), target);
  const published = publishedManifest(manifest, { folder: path, version: manifest.version, bundled: [] });
  await writeFile(join(folder, path, "package.json"), JSON.stringify(published));
}

async function compile(folder: string): Promise<void> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const config = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
  const only = ["--emitDeclarationOnly", "--sourceMap", "false", "--inlineSources", "false"];
  const args = [compiler, "-p", config, "--outDir", folder, ...only];
  await promisify(execFile)(process.execPath, args).catch(({ stdout, message }) => {
    throw new Error(`the packages do not compile:\n${stdout || message}`);
  });
}
