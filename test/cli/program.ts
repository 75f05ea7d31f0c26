/** The command line as a user has it: a process of its own, in an environment that the test decides. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { Lines } from "../harness/lines.ts";
import { compiledBefore, quickly } from "../harness/start/quick.ts";

/** The root of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
/** What runs a command: Node and the program. */
export const program = fileURLToPath(new URL("../../deploy/cli/denrei.ts", import.meta.url));

/** Variables that would change what a command does are taken away unless a test gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;
const foreign = /^(KUBECONFIG|NATS_|DENREI_|VITEST|KUBERNETES_|NODE_OPTIONS|FORCE_COLOR)/;

function environment(env: Environment): Record<string, string> {
  const cache = process.env.DENREI_CACHE_DIR;
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const wanted = { ...Object.fromEntries(inherited), ...(cache && { DENREI_CACHE_DIR: cache }), ...env };
  return Object.fromEntries(
    Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface Running {
  readonly process: ChildProcess;
  /** Standard output and standard error, line by line. */
  readonly lines: Lines;
  readonly ended: Promise<Ended>;
}

/** How to start a command. */
export interface StartOptions {
  readonly env?: Environment;
  /** In place of Node and the program. */
  readonly command?: readonly [string, ...string[]];
  readonly cwd?: string;
  /** How long it may take, in milliseconds; nearly five minutes unless given, for machines that are busy. */
  readonly longestMillis?: number;
  /** The test's own, where tests run side by side: the global one is that of whichever test ran last. */
  readonly onTestFinished?: typeof onTestFinished;
}

/** Starts a command, which ends when the test does at the latest. */
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
    // One that hangs fails its test and ends.
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

/** A temporary folder for one test, by which all that a command starts can be told from everything else. */
export interface Place {
  readonly folder: string;
  readonly env: Environment;
  /** Folders of runs that are still there. */
  runs(): string[];
  /** Command lines of processes that were started with this environment. */
  processes(): string[];
}

/** Makes a place; it is removed when the test is over. */
export function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), "test-cli-"));
  const processes = () => processesIn(folder);
  onTestFinished(async () => {
    // After a test that did not stop what it started, that may just be dying.
    await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    folder,
    // Compiled code is shared: it belongs to no run.
    env: { TMPDIR: folder, ...compiledBefore },
    runs: () => readdirSync(folder).filter((name) => name.startsWith("denrei-")),
    processes,
  };
}

/** Processes whose temporary folder is this one, or in it. */
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
      // It has ended meanwhile, or is somebody else's.
      return [];
    }
  });
}
