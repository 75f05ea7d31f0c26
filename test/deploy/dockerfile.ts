/** Reading a Dockerfile, and carrying out what it copies and removes, without an engine. */
import { type ExecFileOptions, execFile } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { delimiter, join, matchesGlob, relative, sep } from "node:path";
import { promisify } from "node:util";
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

/** The stage of that name: `FROM … AS <name>`. */
export function stageNamed(stages: readonly Instruction[][], name: string): Instruction[] {
  const found = stages.find((stage) => allOf(stage, "FROM")[0]?.endsWith(` AS ${name}`));
  if (found === undefined) throw new Error(`expected a stage "AS ${name}" in the Dockerfile, found none`);
  return found;
}

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

/**
 * Carries out a stage in a folder that stands for the root: working directories, what is copied from the context, and
 * what is run, by its user where this process may become that. Copies from other stages are left to the caller, and so
 * is `npm ci`.
 */
export async function carryOut(stage: readonly Instruction[], target: string): Promise<void> {
  const kept = leftIn(await readFile(join(root, ".dockerignore"), "utf8"));
  const env = { PATH: [join(target, "usr/local/bin"), process.env.PATH].join(delimiter) };
  let folder = target;
  let user = {};
  for (const { name, rest } of stage) {
    if (name === "WORKDIR") {
      folder = join(target, rest);
      await mkdir(folder, { recursive: true });
    } else if (name === "USER") {
      const [uid, gid] = rest.split(":").map(Number);
      user = rest === "root" || process.getuid?.() !== 0 ? {} : { uid, gid };
    } else if (name === "COPY" && !rest.startsWith("--from=")) await copy(rest, folder, kept);
    else if (name === "RUN" && !rest.startsWith("npm ci ")) await run(rest, { cwd: folder, env, ...user });
  }
}

async function copy(rest: string, folder: string, kept: (path: string) => boolean): Promise<void> {
  const words = rest.split(/\s+/);
  const destination = words.pop() ?? "";
  for (const source of words) {
    if (!kept(source)) throw new Error(`expected .dockerignore to leave ${source} in, which is copied`);
    const to = destination.endsWith("/") ? join(destination, source) : destination;
    await cp(join(root, source), join(folder, to), {
      recursive: true,
      filter: (path) => kept(relative(root, path).replaceAll(sep, "/")),
    });
  }
}

/** Runs a line within the folder. What it names has to be there: outside of a container it would be this machine's. */
async function run(line: string, options: ExecFileOptions): Promise<void> {
  if (/(^|[\s=])(\/|\.\.|~)/.test(line)) {
    throw new Error(
      `expected paths below WORKDIR, found "${line}": use WORKDIR, this runs outside of a container`,
    );
  }
  await promisify(execFile)("sh", ["-ec", line], options);
}
