/** Declarations of all packages, where they find each other by name. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publishedManifest } from "../manifest.ts";
import { root, type Workspace } from "../workspaces.ts";

/** A temporary folder with declarations, in the layout of the repository. */
export interface Declarations extends AsyncDisposable {
  readonly folder: string;
}

/** Compiles the declarations. Rejects with the compiler's messages. */
export async function compileDeclarations(all: readonly Workspace[]): Promise<Declarations> {
  await mkdir(join(root, "dist"), { recursive: true });
  // Below the root, so that modules also find the installed packages.
  const folder = await mkdtemp(join(root, "dist/declarations-"));
  const remove = () => rm(folder, { recursive: true });
  try {
    await compile(folder);
    for (const { folder: path, manifest } of all) {
      const link = join(folder, "node_modules", manifest.name);
      await mkdir(join(folder, path), { recursive: true });
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(folder, path), link);
      const published = publishedManifest(manifest, { folder: path, version: manifest.version, bundled: [] });
      await writeFile(join(folder, path, "package.json"), JSON.stringify(published));
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, [Symbol.asyncDispose]: remove };
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
