/** Parses a Dockerfile, and runs its COPY and RUN instructions without a container engine. */
import { type ExecFileOptions, execFile } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { basename, delimiter, join, matchesGlob, relative, sep } from "node:path";
import { promisify } from "node:util";
import { root } from "./manifests.ts";

/** One instruction, such as `COPY`, with its arguments. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The stages of a Dockerfile, each starting with its FROM. The first element has the instructions before any stage. */
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

/** The arguments of all instructions of this name. */
export const allOf = (stage: readonly Instruction[], name: string): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);

/** The stage with this name: `FROM … AS <name>`. */
export function stageNamed(stages: readonly Instruction[][], name: string): Instruction[] {
  const found = stages.find((stage) => allOf(stage, "FROM")[0]?.endsWith(` AS ${name}`));
  if (found === undefined) throw new Error(`the Dockerfile has no stage "AS ${name}"`);
  return found;
}

/** A predicate for paths that `.dockerignore` includes. The last matching line decides, for a folder and its content. */
export function includedBy(ignoreText: string): (path: string) => boolean {
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

/** Where a stage copies from, and what `npm ci` does. */
export interface StageOptions {
  /** The folder of the build. Default: the repository. */
  readonly context?: string;
  /** Called in the working directory instead of `npm ci`. Default: the caller has installed the packages. */
  readonly npmCi?: (folder: string, args: readonly string[]) => Promise<unknown>;
}

/**
 * Runs a stage in a folder that stands for the root: WORKDIR, COPY from the context, and RUN, as the stage's user if this
 * process can switch to it. The caller handles copies from other stages.
 */
export async function runStage(
  stage: readonly Instruction[],
  target: string,
  { context = root, npmCi = async () => undefined }: StageOptions = {},
): Promise<void> {
  const kept = includedBy(await readFile(join(context, ".dockerignore"), "utf8"));
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
    } else if (name === "COPY" && !rest.startsWith("--from=")) await copy(rest, { context, folder, kept });
    else if (name === "RUN" && /^npm ci( |$)/.test(rest)) await npmCi(folder, rest.split(/\s+/).slice(1));
    else if (name === "RUN") await run(rest, { cwd: folder, env, ...user });
  }
}

interface Copying {
  readonly context: string;
  readonly folder: string;
  readonly kept: (path: string) => boolean;
}

async function copy(rest: string, { context, folder, kept }: Copying): Promise<void> {
  const words = rest.split(/\s+/);
  const destination = words.pop() ?? "";
  for (const source of words) {
    if (!kept(source)) throw new Error(`.dockerignore excludes ${source}, which the Dockerfile copies`);
    const to = destination.endsWith("/") ? join(destination, basename(source)) : destination;
    await cp(join(context, source), join(folder, to), {
      recursive: true,
      filter: (path) => kept(relative(context, path).replaceAll(sep, "/")),
    });
  }
}

/** Runs a command line within the folder. Absolute paths are rejected, because they would be this machine's. */
async function run(line: string, options: ExecFileOptions): Promise<void> {
  if (/(^|[\s=])(\/|\.\.|~)/.test(line)) {
    throw new Error(
      `"${line}" uses paths outside WORKDIR, which would be this machine's: change WORKDIR first`,
    );
  }
  await promisify(execFile)("sh", ["-ec", line], options);
}
