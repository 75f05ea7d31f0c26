/** Builds programs from their pinned Go modules. */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeExit, lastLines } from "../run/child.ts";
import { openRun } from "../run/run.ts";
import type { GoPackage } from "./catalogue.ts";

/** The folder with the pinned Go modules. */
export const toolsDirectory = fileURLToPath(new URL("../tools", import.meta.url));

/** Options of a build. */
export interface GoBuildOptions {
  /** The file to write. */
  readonly output: string;
  /** Installs this version instead of the pinned one. Go verifies it against its checksum database. */
  readonly install?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Called every second. */
  readonly onElapsed: (seconds: number) => void;
}

/** Builds the program, which takes minutes with a cold Go build cache. Throws with the reason when it fails. */
export async function goBuild(goPackage: GoPackage, options: GoBuildOptions): Promise<void> {
  if (options.install !== undefined && !goPackage.installable)
    throw new Error(
      `only the pinned version of ${goPackage.path} can be built, because its module has replace directives`,
    );
  await expectGo(options.env);
  // A child of a run, so that the compiler does not outlive this process.
  const run = await openRun();
  const startedAt = performance.now();
  const tick = () => options.onElapsed(Math.round((performance.now() - startedAt) / 1000));
  const timer = setInterval(tick, 1000);
  const stop = () => void build.stop("SIGKILL");
  const build = run.child({
    name: "go-build",
    command: "go",
    args: argumentsOf(goPackage, options),
    cwd: options.install === undefined ? join(toolsDirectory, goPackage.module) : dirname(options.output),
    // Static, so that no C compiler is needed, and without a surrounding Go workspace, which could change versions.
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
  // The linker strips debug information anyway, so the compiler need not generate it.
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
    throw new Error(missing ? "go is not in PATH" : `go version: ${(error as Error).message}`);
  }
}
