/** Denrei as its image runs it: from a bundle, with the image's flags and environment. */
import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openProject } from "../../bus/project/project.ts";
import { bundleProject } from "../../deploy/bundle/bundle.ts";
import { allOf, stagesOf } from "../deploy/dockerfile.ts";
import { root } from "../deploy/manifests.ts";

/** How to start it: arguments of Node before those of the command line. */
export interface Program {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

let built: Promise<Program> | undefined;

/** The program of this repository, which is bundled at the first call and removed when this process ends. */
export function program(): Promise<Program> {
  built ??= build();
  return built;
}

/** The program of another checkout: its bundle, or its sources if it has no bundle. */
export async function programIn(checkout: string): Promise<Program> {
  const own = join(checkout, "test/bench/program.ts");
  if (!existsSync(own)) return { args: [join(checkout, "bus/command/denrei.js")], env: {} };
  return ((await import(own)) as { readonly program: () => Promise<Program> }).program();
}

async function build(): Promise<Program> {
  const image = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8")).at(-1) ?? [];
  const [, ...entry]: string[] = JSON.parse(allOf(image, "ENTRYPOINT")[0] ?? "[]");
  const pairs = allOf(image, "ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=")));
  const { PATH: _, ...env } = Object.fromEntries(pairs) as Record<string, string>;
  const folder = await mkdtemp(join(tmpdir(), "denrei-bundle-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const out = join(folder, "dist");
  await bundleProject({ project: await openProject(root), out, external: [], onWarning: console.error });
  const compiled = { ...env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const flags = entry.slice(0, -1);
  await promisify(execFile)(process.execPath, [...flags, join(out, "compile.js")], {
    cwd: folder,
    env: { ...process.env, ...compiled },
  });
  return { args: [...flags, join(folder, entry.at(-1) ?? "")], env: compiled };
}
