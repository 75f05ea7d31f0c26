/** Reading a Dockerfile, and doing what its last stage copies, without an engine. */
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join, matchesGlob, relative, sep } from "node:path";
import { root } from "./manifests.ts";

/** One instruction: `COPY`, and what stands behind it. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The stages of a Dockerfile, each from its FROM on; before the first one stands what belongs to all. */
export function stagesOf(text: string): Instruction[][] {
  const lines = text.replace(/\\\n/g, " ").split("\n");
  const stages: Instruction[][] = [[]];
  for (const line of lines.filter((candidate) => /^[A-Z]+ /.test(candidate))) {
    const [name = ""] = line.split(" ", 1);
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, rest: line.slice(name.length + 1).trim() });
  }
  return stages;
}

/** The instructions of that name. */
export const allOf = (stage: readonly Instruction[], name: string): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);

/** A predicate for paths that `.dockerignore` leaves in: the last matching line decides, for a folder and all in it. */
export function leftIn(ignoreText: string): (path: string) => boolean {
  const rules = ignoreText
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ pattern: line.replace(/^!/, ""), keep: line.startsWith("!") }));
  return (path) => {
    const steps = path.split("/");
    const above = steps.map((_, at) => steps.slice(0, at + 1).join("/"));
    const deciding = rules.findLast(({ pattern }) => above.some((part) => matchesGlob(part, pattern)));
    return deciding?.keep ?? true;
  };
}

/** Lays out the image's working directory: what is copied from the context, and the production dependencies. */
export async function layOut(stage: readonly Instruction[], target: string): Promise<void> {
  const kept = leftIn(await readFile(join(root, ".dockerignore"), "utf8"));
  for (const copy of allOf(stage, "COPY").filter((rest) => !rest.startsWith("--from="))) {
    const [source = "", destination = ""] = copy.split(/\s+/);
    if (!kept(source)) throw new Error(`expected .dockerignore to leave ${source} in, which is copied`);
    const to = join(target, destination.endsWith("/") ? join(destination, source) : destination);
    await cp(join(root, source), to, {
      recursive: true,
      filter: (path) => kept(relative(root, path).replaceAll(sep, "/")),
    });
  }
  await linkDependencies(target);
}

/** Links what `npm ci --omit=dev --omit=optional` would install. */
async function linkDependencies(target: string): Promise<void> {
  const lock: { packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }> } =
    JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  for (const [path, { dev, optional, devOptional }] of Object.entries(lock.packages)) {
    const outermost = path.lastIndexOf("node_modules/") === 0;
    if (!outermost || dev || optional || devOptional) continue;
    await mkdir(dirname(join(target, path)), { recursive: true });
    await symlink(join(root, path), join(target, path));
  }
}
