/** Runs the command line as a separate process, in an environment that the test controls. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { compiledBefore, quickly } from "../harness/start/quick.ts";
import { Lines } from "../ket/lines.ts";

/** The root of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
/** The program, which Node runs. */
export const program = fileURLToPath(new URL("../../bus/command/main.ts", import.meta.url));

/** Environment variables. Variables that affect commands are removed unless a test sets them. */
export type Environment = Readonly<Record<string, string | undefined>>;
const foreign = /^(KUBECONFIG|NATS_|DENREI_|VITEST|KUBERNETES_|NODE_OPTIONS|FORCE_COLOR)/;

function environment(env: Environment): Record<string, string> {
  const cache = process.env.DENREI_CACHE_DIR;
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const merged = { ...Object.fromEntries(inherited), ...(cache && { DENREI_CACHE_DIR: cache }), ...env };
  return Object.fromEntries(
    Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly process: ChildProcess;
  /** Standard output and standard error, line by line. */
  readonly lines: Lines;
  readonly ended: Promise<Ended>;
}

/** How to start a command. */
export interface StartOptions {
  readonly env?: Environment;
  /** Default: Node and the program. */
  readonly command?: readonly [string, ...string[]];
  readonly cwd?: string;
  /** Time limit in milliseconds. Default: 280,000, for busy machines. */
  readonly longestMillis?: number;
  /** The hook of the test's context, which concurrent tests need: the global hook belongs to the last started test. */
  readonly onTestFinished?: typeof onTestFinished;
}

/** Starts a command, which is killed at the end of the test. */
export function start(args: readonly string[], options?: StartOptions): Running {
  const running = begin(args, options);
  (options?.onTestFinished ?? onTestFinished)(async () => {
    running.process.kill("SIGKILL");
    await running.ended.catch(() => undefined);
  });
  return running;
}

/** Runs a command to its end. */
export const run = (args: readonly string[], options?: StartOptions): Promise<Ended> =>
  begin(args, options).ended;

function begin(
  args: readonly string[],
  {
    env = {},
    command = [process.execPath, ...quickly(), program],
    cwd = root,
    longestMillis = 280_000,
  }: StartOptions = {},
): Running {
  const [file, ...first] = command;
  const child = spawn(file, [...first, ...args], {
    cwd,
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
    // Kills a command that hangs, so that its test fails.
    timeout: longestMillis,
    killSignal: "SIGKILL",
  });
  const lines = new Lines();
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
    createInterface({ input: child[name] }).on("line", (line) => lines.push(line));
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, ...text }));
  });
  ended.catch(() => undefined);
  return { process: child, lines, ended };
}

/** A temporary folder for one test, which also identifies the processes that its commands start. */
export interface TestFolder {
  readonly folder: string;
  readonly env: Environment;
  /** Remaining folders of runs. */
  runs(): string[];
  /** Command lines of processes that were started with this environment. */
  processes(): string[];
}

/** Creates a folder, which is removed after the test. */
export function testFolder(): TestFolder {
  const folder = mkdtempSync(join(tmpdir(), "test-cli-"));
  const processes = () => processesIn(folder);
  onTestFinished(async () => {
    // Processes of a failed test may still be exiting.
    await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    folder,
    // Runs share the compiled code.
    env: { TMPDIR: folder, ...compiledBefore },
    runs: () => readdirSync(folder).filter((name) => name.startsWith("denrei-")),
    processes,
  };
}

/** Processes whose TMPDIR is the folder, or a folder in it. */
function processesIn(folder: string): string[] {
  const isIn = (variable: string) =>
    variable === `TMPDIR=${folder}` || variable.startsWith(`TMPDIR=${folder}/`);
  if (!existsSync("/proc/self/environ")) {
    const shown = execFileSync("/bin/ps", ["-A", "-E", "-ww", "-o", "pid=,command="], { encoding: "utf8" });
    return shown.split("\n").filter((line) => line.split(" ").some(isIn));
  }
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").some(isIn)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()}`];
    } catch {
      // The process has exited, or belongs to another user.
      return [];
    }
  });
}
