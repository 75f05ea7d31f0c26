/** Client of a chart's process: sends one request at a time, with limits for time, memory, and output. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ChartError } from "../chart.ts";

/** Limits of a process. */
export interface Limits {
  /** Limit of the JavaScript heap. Buffers and Node itself may use {@link nonHeapMegabytes} more. */
  readonly heapMegabytes: number;
  /** Maximum length of an answer. Characters. */
  readonly maxOutput: number;
  /** Folder with `node_modules` and `imports` that the chart may import from. */
  readonly modules?: string | undefined;
}

/** A process that answers requests. */
export interface ChartProcess {
  readonly pid: number | undefined;
  /** False once the process was ended or died. */
  readonly alive: boolean;
  /**
   * Sends a request and returns the answer. Without a request, waits until the process is ready. One at a time. Throws a
   * {@link ChartError} and ends the process when the answer is late, when the process exceeds a limit, or when it dies.
   */
  ask(question: object | undefined, deadlineMillis: number): Promise<unknown>;
  /** Sends `SIGKILL`. Resolves when the process has ended. */
  end(): Promise<void>;
}

const nonHeapMegabytes = 192;
/** Length of the kept output, for messages about a process that died. */
const keptErrors = 4096;

const main = fileURLToPath(new URL("./child/main.ts", import.meta.url));

function packageFolder(name: string): string {
  const path = createRequire(import.meta.url).resolve(name);
  const end = path.lastIndexOf(`node_modules/${name}/`) + `node_modules/${name}`.length;
  return realpathSync(path.slice(0, end));
}

function argumentsFor({ heapMegabytes, maxOutput, modules }: Limits): string[] {
  const site = modules === undefined ? [] : [siteFolder(modules)];
  const readable = [dirname(main), packageFolder("cdk8s"), packageFolder("constructs"), ...site];
  return [
    "--permission",
    ...readable.map((folder) => `--allow-fs-read=${folder}`),
    "--frozen-intrinsics",
    "--disallow-code-generation-from-strings",
    "--disable-sigusr1",
    "--no-warnings",
    `--max-old-space-size=${heapMegabytes}`,
    main,
    String(maxOutput),
    ...site,
  ];
}

function siteFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new ChartError(
      "ChartNotLoaded",
      `cannot read the folder of the site's modules: ${(error as Error).message}. Mount it, or correct DENREI_CHART_MODULES.`,
      { cause: error },
    );
  }
}

/** Starts a process that runs a chart. It gets an empty environment and may only read its own files. */
export const startChild = (limits: Limits): ChartProcess => new Child(limits);

/** A request that waits for its answer. */
interface Waiting {
  resolve(line: string): void;
  reject(error: ChartError): void;
}

class Child implements ChartProcess {
  alive = true;
  readonly #limits: Limits;
  readonly #child: ChildProcessByStdio<Socket, Socket, Socket>;
  /** Resolves when the process has ended. */
  readonly #ended: Promise<void>;
  #output = "";
  #errors = "";
  #waiting: Waiting | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#child = spawn(process.execPath, argumentsFor(limits), {
      cwd: dirname(main),
      env: {},
      stdio: ["pipe", "pipe", "pipe"],
    }) as ChildProcessByStdio<Socket, Socket, Socket>;
    const { stdin, stdout, stderr } = this.#child;
    stdin.on("error", () => undefined);
    stdout.setEncoding("utf8").on("data", (chunk: string) => this.#receive(chunk));
    stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#errors = (this.#errors + chunk).slice(-keptErrors);
    });
    this.#ended = this.#watchEnd();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async ask(question: object | undefined, deadlineMillis: number): Promise<unknown> {
    this.#ref();
    const late = setTimeout(() => this.#fail(timedOut(deadlineMillis)), deadlineMillis);
    const unwatch = watchMemory(this.pid, this.#limits.heapMegabytes + nonHeapMegabytes, () =>
      this.#fail(outOfMemory(this.#limits)),
    );
    try {
      const answer = new Promise<string>((resolve, reject) => {
        if (this.alive) this.#waiting = { resolve, reject };
        else reject(this.#died("had ended"));
      });
      if (question !== undefined) this.#child.stdin.write(`${JSON.stringify(question)}\n`);
      return JSON.parse(await answer);
    } finally {
      unwatch();
      clearTimeout(late);
      // An idle chart must not keep the worker's process alive.
      this.#unref();
    }
  }

  async end(): Promise<void> {
    this.#ref();
    this.#fail(new ChartError("ChartDied", "the chart was replaced. Retrying."));
    await this.#ended;
  }

  #ref(): void {
    for (const handle of this.#handles()) handle.ref();
  }

  #unref(): void {
    for (const handle of this.#handles()) handle.unref();
  }

  #handles() {
    const { stdin, stdout, stderr } = this.#child;
    return [this.#child, stdin, stdout, stderr];
  }

  #watchEnd(): Promise<void> {
    const child = this.#child;
    child.on("error", (error) => this.#fail(this.#died(`cannot be started: ${error.message}`)));
    return new Promise((resolve) => {
      child.on("close", (code, signal) => {
        this.#fail(this.#died(signal === null ? `ended with code ${code}` : `was killed by ${signal}`));
        resolve();
      });
      child.on("error", () => child.pid === undefined && resolve());
    });
  }

  /** Passes a complete line to the waiting request, and ends a process that prints too much. */
  #receive(chunk: string): void {
    this.#output += chunk;
    const end = this.#output.indexOf("\n");
    if (end >= 0 && this.#waiting !== undefined) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      const line = this.#output.slice(0, end);
      this.#output = this.#output.slice(end + 1);
      resolve(line);
    } else if (this.#output.length > this.#limits.maxOutput + keptErrors) {
      this.#fail(tooLong(this.#limits));
    }
  }

  /** Kills the process, and rejects the waiting request. */
  #fail(error: ChartError): void {
    this.alive = false;
    this.#child.kill("SIGKILL");
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #died(how: string): ChartError {
    if (/heap out of memory|heap limit/i.test(this.#errors)) return outOfMemory(this.#limits);
    const printed = this.#errors.trim().slice(-500) || "nothing";
    return new ChartError("ChartDied", `the chart's process ${how}. It printed: ${printed}. Retrying.`);
  }
}

const pollMillis = 100;

/**
 * Watches the memory of a process on Linux, because Node limits its heap, but not its buffers. Calls `exceeded` once when the process
 * uses more than `megabytes`. The returned function stops watching. Without /proc, as on macOS, it does nothing.
 */
function watchMemory(pid: number | undefined, megabytes: number, exceeded: () => void): () => void {
  if (pid === undefined || process.platform !== "linux") return () => undefined;
  const timer = setInterval(async () => {
    // The process may have ended since the last poll.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    if (kilobytes <= megabytes * 1024) return;
    clearInterval(timer);
    exceeded();
  }, pollMillis);
  return () => clearInterval(timer);
}

const tooLong = ({ maxOutput }: Limits): ChartError =>
  new ChartError(
    "ChartOutputInvalid",
    `the output is longer than ${maxOutput} characters. Make fewer or smaller objects.`,
  );

const timedOut = (deadlineMillis: number): ChartError =>
  new ChartError(
    "ChartTimedOut",
    `the chart did not finish within ${deadlineMillis / 1000} seconds. Check it for endless loops.`,
  );

const outOfMemory = ({ heapMegabytes }: Limits): ChartError =>
  new ChartError(
    "ChartOutOfMemory",
    `the chart exceeded its memory limit of ${heapMegabytes} MB. Check that it does not accumulate data across renderings.`,
  );
