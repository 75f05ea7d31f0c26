/** Client of a chart's process: sends one request at a time, with limits for time, memory, and output. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ChartError } from "../chart.ts";
import { watchMemory } from "./memory.ts";

/** Limits of a process. */
export interface Limits {
  /** Limit of the JavaScript heap. Buffers and Node itself may use {@link besideHeap} more. */
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

const besideHeap = 192;
/** Length of the kept output, for messages about a process that died. */
const keptNoise = 4096;

const main = fileURLToPath(new URL("./child/main.ts", import.meta.url));

/** The folder of a package, as Node finds it. */
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
export function startChild(limits: Limits): ChartProcess {
  const child = spawn(process.execPath, argumentsFor(limits), {
    cwd: dirname(main),
    env: {},
    stdio: ["pipe", "pipe", "pipe"],
  }) as ChildProcessByStdio<Socket, Socket, Socket>;
  let alive = true;
  let output = "";
  let noise = "";
  let waiting: { resolve(line: string): void; reject(error: ChartError): void } | undefined;

  function fail(error: ChartError): void {
    alive = false;
    child.kill("SIGKILL");
    waiting?.reject(error);
    waiting = undefined;
  }
  const died = (how: string): ChartError =>
    /heap out of memory|heap limit/i.test(noise)
      ? outOfMemory(limits)
      : new ChartError(
          "ChartDied",
          `the chart's process ${how}. It printed: ${noise.trim().slice(-500) || "nothing"}. Retrying.`,
        );

  child.stdin.on("error", () => undefined);
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    const end = output.indexOf("\n");
    if (end >= 0 && waiting !== undefined) {
      const { resolve } = waiting;
      waiting = undefined;
      const line = output.slice(0, end);
      output = output.slice(end + 1);
      resolve(line);
    } else if (output.length > limits.maxOutput + keptNoise) {
      fail(
        new ChartError(
          "ChartOutputInvalid",
          `the output is longer than ${limits.maxOutput} characters. Make fewer or smaller objects.`,
        ),
      );
    }
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    noise = (noise + chunk).slice(-keptNoise);
  });
  child.on("error", (error) => fail(died(`cannot be started: ${error.message}`)));
  const gone = new Promise<void>((resolve) => {
    child.on("close", (code, signal) => {
      fail(died(signal === null ? `ended with code ${code}` : `was killed by ${signal}`));
      resolve();
    });
    child.on("error", () => child.pid === undefined && resolve());
  });
  const handles = [child, child.stdin, child.stdout, child.stderr];

  return {
    pid: child.pid,
    get alive() {
      return alive;
    },
    async ask(question, deadlineMillis) {
      for (const handle of handles) handle.ref();
      const late = setTimeout(() => fail(timedOut(deadlineMillis)), deadlineMillis);
      const unwatch = watchMemory(child.pid, limits.heapMegabytes + besideHeap, () =>
        fail(outOfMemory(limits)),
      );
      try {
        const answer = new Promise<string>((resolve, reject) => {
          if (alive) waiting = { resolve, reject };
          else reject(died("had ended"));
        });
        if (question !== undefined) child.stdin.write(`${JSON.stringify(question)}\n`);
        return JSON.parse(await answer);
      } finally {
        unwatch();
        clearTimeout(late);
        // An idle chart must not keep the worker's process alive.
        for (const handle of handles) handle.unref();
      }
    },
    async end() {
      for (const handle of handles) handle.ref();
      fail(new ChartError("ChartDied", "the chart was replaced. Retrying."));
      await gone;
    },
  };
}

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
