/** A supervised child process that can be stopped and restarted, with its log in the run's directory. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, createWriteStream, openSync, readdirSync, rmSync, type WriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ExpectedError } from "denrei/runtime";
import { busyMillis } from "./busy.ts";
import { poll } from "./poll.ts";

/** The shell script that ends children when their owner dies. */
export const lifelineScript = fileURLToPath(new URL("./lifeline.sh", import.meta.url));

/** How a process ended: with a code or by a signal. Both are null when it could not be started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program to run, and how to detect that it is ready. */
export interface ChildSpec {
  /** Names the log file and appears in messages: `etcd`, `worker-2`. Unique within the run. */
  readonly name: string;
  /** An absolute path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to this process's environment. Undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd?: string | undefined;
  /**
   * Readiness probe: resolves once the child is ready, and throws until then. Without a probe, a child is ready as soon as
   * it was started.
   */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /**
   * How long it may take to become ready, in milliseconds. Time in which it is busy or waits for a processor does not count, up to
   * nine times as long. Default: 30 s.
   */
  readonly readyMillis?: number | undefined;
  /** How long it may take to end after a signal before it is killed, in milliseconds. Default: 2 s. */
  readonly graceMillis?: number | undefined;
  /** Signal for the end of the run. Default: SIGTERM. SIGKILL suits programs whose data is removed with the run. */
  readonly closingSignal?: NodeJS.Signals | undefined;
  /** Receives standard output and standard error line by line, besides the log file. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Called when the child ends without having been stopped, after it was ready. */
  readonly onUnexpectedExit?: ((exit: Exit) => void) | undefined;
  /** Starts the child and passes on each line of its output. Default: a new process of the command. */
  readonly launch?: ((write: (line: string) => void) => Launched) | undefined;
}

/** One process of a child, from start to exit. */
export interface Launched {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves once the process has ended and its output was read. */
  readonly ended: Promise<Exit>;
  /** Sends a signal. SIGKILL reaches the whole process group. */
  send(signal: NodeJS.Signals): void;
}

/** A child that can be stopped and started again with the same ports and data. */
export interface Child {
  readonly name: string;
  /** The output of all its processes. Removed when the run is closed. */
  readonly logPath: string;
  /** The process id, or undefined while it does not run. */
  readonly pid: number | undefined;
  /** Starts it and waits until it is ready. Throws {@link ChildStartError}. Does nothing while it runs. */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * Sends the signal (default: SIGTERM), kills the child after the grace period, and resolves once it has ended. SIGKILL
   * reaches the whole process group at once.
   */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Resolves when the current process ends, or at once when no process runs. */
  exited(): Promise<Exit | undefined>;
}

/** A child ended or did not become ready while it was being started. */
export class ChildStartError extends ExpectedError {
  override readonly name = "ChildStartError";
  readonly lastLines: readonly string[];

  constructor(message: string, lastLines: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.lastLines = lastLines;
  }
}

/** One process of a child, from start to exit. */
interface ChildLife extends Launched {
  /** True after a stop was requested, and until the child is ready. */
  endExpected: boolean;
}

/** Prepares a child of the run in `directory` without starting it. */
export function createChild(directory: string, spec: ChildSpec): Child {
  const logPath = join(directory, "logs", `${spec.name}.log`);
  let life: ChildLife | undefined;

  function spawnProcess(): ChildLife {
    const launched = spec.launch
      ? launchProcess(spec, spec.launch, logPath)
      : launch(directory, spec, logPath);
    const started: ChildLife = { ...launched, endExpected: true };
    void started.ended.then((exit) => {
      if (life === started) life = undefined;
      if (!started.endExpected) spec.onUnexpectedExit?.(exit);
    });
    return started;
  }

  return {
    name: spec.name,
    logPath,
    get pid() {
      return life?.pid;
    },
    async start(signal) {
      signal?.throwIfAborted();
      if (life) return;
      const current = spawnProcess();
      life = current;
      try {
        await untilReady(spec, current, signal);
      } catch (error) {
        end(current, "SIGKILL");
        const exit = await current.ended;
        signal?.throwIfAborted();
        throw await startError(spec, logPath, exit, error);
      }
      current.endExpected = false;
    },
    async stop(signal = "SIGTERM") {
      const current = life;
      if (!current) return;
      end(current, signal);
      const timer = setTimeout(() => end(current, "SIGKILL"), spec.graceMillis ?? 2000);
      await current.ended;
      clearTimeout(timer);
    },
    async exited() {
      return await life?.ended;
    },
  };
}

function launch(directory: string, spec: ChildSpec, logPath: string): Launched {
  const child = start(directory, spec, logPath);
  const ended = new Promise<Exit>((resolve) => {
    child.once("exit", () => forget(directory, child.pid));
    child.once("error", () => resolve({ code: null, signal: null }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return {
    pid: child.pid,
    ended,
    send(signal) {
      if (signal !== "SIGKILL") child.kill(signal);
      else if (child.pid !== undefined) sendToGroup(child.pid, signal);
    },
  };
}

function launchProcess(
  { onLine }: ChildSpec,
  begin: NonNullable<ChildSpec["launch"]>,
  logPath: string,
): Launched {
  const log = openLog(logPath);
  const launched = begin((line) => {
    log.write(`${line}\n`);
    onLine?.(line);
  });
  void launched.ended.then(() => log.end());
  return launched;
}

function start(directory: string, spec: ChildSpec, logPath: string): ChildProcess {
  const log = openSync(logPath, "a", 0o600);
  try {
    const piped = spec.onLine !== undefined;
    const output = piped ? "pipe" : log;
    const child = spawn("/bin/sh", [lifelineScript, "enter", directory, spec.command, ...spec.args], {
      stdio: ["ignore", output, output],
      env: { ...process.env, ...spec.env },
      // A separate process group: a signal from the terminal must not reach parts before their owner, and a signal to the group
      // also reaches the child's own children.
      detached: true,
      ...(spec.cwd !== undefined && { cwd: spec.cwd }),
    });
    if (spec.onLine) forward(child, spec.onLine, logPath);
    return child;
  } finally {
    closeSync(log);
  }
}

function forward(child: ChildProcess, onLine: (line: string) => void, logPath: string): void {
  const log = openLog(logPath);
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    stream.pipe(log, { end: false });
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", onLine);
  }
  child.once("close", () => log.end());
}

function openLog(path: string): WriteStream {
  const log = createWriteStream(path, { flags: "a", mode: 0o600 });
  // The run's directory may be removed while the last lines arrive.
  log.on("error", () => undefined);
  return log;
}

/** Ends the remaining processes in the child's group, and removes it from the register. */
function forget(directory: string, pid: number | undefined): void {
  if (pid === undefined) return;
  sendToGroup(pid, "SIGKILL");
  const register = join(directory, "register");
  try {
    for (const record of readdirSync(register)) {
      if (record.startsWith(`${pid} `)) rmSync(join(register, record), { force: true });
    }
  } catch {
    // The reaper has closed the register and reads it no more.
  }
}

function end(life: ChildLife, signal: NodeJS.Signals): void {
  life.endExpected = true;
  life.send(signal);
}

/** Sends a signal to the whole process group. */
export function sendToGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no more processes.
  }
}

async function untilReady(spec: ChildSpec, life: ChildLife, signal: AbortSignal | undefined): Promise<void> {
  const over = new AbortController();
  const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const early = life.ended.then(() => {
    throw new Error("it ended");
  });
  const ready = poll("it to become ready", spec.ready ?? spawned(life), {
    timeoutMillis: spec.readyMillis ?? 30_000,
    excusedMillis: () => (life.pid === undefined ? 0 : busyMillis(life.pid)),
    signal: either,
  });
  // The promise that loses the race may reject later, unhandled.
  early.catch(() => undefined);
  ready.catch(() => undefined);
  try {
    await Promise.race([ready, early]);
  } finally {
    over.abort();
  }
}

const spawned = (life: ChildLife) => async () => {
  if (life.pid === undefined) throw new Error("it could not be started");
};

async function startError(
  spec: ChildSpec,
  logPath: string,
  exit: Exit,
  cause: unknown,
): Promise<ChildStartError> {
  const lines = await lastLines(logPath, 20);
  const found =
    exit.signal === "SIGKILL" && cause instanceof Error ? cause.message : `it ${describeExit(exit)}`;
  const log = lines.length === 0 ? "It wrote nothing." : `Its last lines:\n  ${lines.join("\n  ")}`;
  return new ChildStartError(
    `${spec.name} (${spec.command} ${spec.args.join(" ")}) did not start: ${found}. ${log}`,
    lines,
    { cause },
  );
}

/** "exited with code 1" or "was ended by SIGKILL", to follow the name of a process. */
export function describeExit({ code, signal }: Exit): string {
  if (signal !== null) return `was ended by ${signal}`;
  return code === null ? "could not be started" : `exited with code ${code}`;
}

/** The last lines of a log, without reading the whole file. */
export async function lastLines(path: string, count: number): Promise<string[]> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const length = Math.min(size, 16_384);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer
      .toString("utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(-count);
  } finally {
    await file.close();
  }
}
