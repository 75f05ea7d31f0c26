/** Building a program from its pinned Go module. */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeExit, lastLines } from "../run/child.ts";
import { openRun } from "../run/run.ts";
import type { GoPackage } from "./catalogue.ts";

/** The folder with the pinned Go modules. */
export const toolsDirectory = fileURLToPath(new URL("../tools", import.meta.url));

/** What a build needs to know and whom to tell. */
export interface GoBuildOptions {
  /** The file to write. */
  readonly output: string;
  /** A version to install in place of the pinned one; Go compares it with its checksum database. */
  readonly install?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Called every second. */
  readonly onElapsed: (seconds: number) => void;
}

/** Builds the program, or throws with the reason. Takes minutes when Go's build cache is cold. */
export async function goBuild(goPackage: GoPackage, options: GoBuildOptions): Promise<void> {
  if (options.install !== undefined && !goPackage.installable)
    throw new Error(
      `only the pinned version of ${goPackage.path} can be built, as its module replaces others`,
    );
  await expectGo(options.env);
  // A run, so that the compiler does not go on for minutes when this process is killed.
  const run = await openRun();
  const begun = performance.now();
  const tick = () => options.onElapsed(Math.round((performance.now() - begun) / 1000));
  const timer = setInterval(tick, 1000);
  const stop = () => void build.stop("SIGKILL");
  const build = run.child({
    name: "go-build",
    command: "go",
    args: argumentsOf(goPackage, options),
    cwd: options.install === undefined ? join(toolsDirectory, goPackage.module) : dirname(options.output),
    // Static, whether or not there is a C compiler. A workspace around this project must not change versions.
    env: {
      ...options.env,
      CGO_ENABLED: "0",
      GOWORK: "off",
      ...(options.install !== undefined && { GOBIN: dirname(options.output) }),
    },
  });
  try {
    tick();
    options.signal?.addEventListener("abort", stop);
    await build.start(options.signal);
    const exit = await build.exited();
    options.signal?.throwIfAborted();
    if (exit && exit.code !== 0) {
      const lines = await lastLines(build.logPath, 8);
      throw new Error(
        `go ${options.install === undefined ? "build" : "install"} ${goPackage.path} ${describeExit(exit)}: ${lines.join(" | ")}`,
      );
    }
  } finally {
    options.signal?.removeEventListener("abort", stop);
    clearInterval(timer);
    await run.close();
  }
}

function argumentsOf(goPackage: GoPackage, { output, install }: GoBuildOptions): string[] {
  // The linker strips debug information anyway; without it the compiler is done sooner.
  const compiler = ["-trimpath", "-gcflags", "all=-dwarf=false"];
  const linker = ["-ldflags", goPackage.ldflags, "-tags", goPackage.tags ?? ""];
  if (install !== undefined) return ["install", ...compiler, ...linker, `${goPackage.path}@v${install}`];
  return ["build", ...compiler, ...linker, "-o", output, goPackage.path];
}

async function expectGo(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await promisify(execFile)("go", ["version"], { env });
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new Error(missing ? "there is no go command in PATH" : `go version: ${(error as Error).message}`);
  }
}
