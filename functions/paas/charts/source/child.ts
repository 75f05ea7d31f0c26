/** The process of a chart, from outside: one question after the other, and never longer than it may take. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ChartError } from "../chart.ts";
import { watchMemory } from "./memory.ts";

/** What a process may use. */
export interface Limits {
  /** Of JavaScript's own memory. What it has in buffers, and Node itself, may be {@link besideHeap} more. */
  readonly heapMegabytes: number;
  /** Characters of an answer. */
  readonly maxOutput: number;
  /** A folder with `node_modules` and `imports` that the chart may import from. */
  readonly modules?: string | undefined;
}

/** A process that answers. */
export interface ChartProcess {
  readonly pid: number | undefined;
  /** False when it takes no more questions: it was ended, or it died. */
  readonly alive: boolean;
  /**
   * The answer to a question, or, without one, that it is ready. One at a time. Throws a {@link ChartError} and ends the
   * process when there is none in time, when it needs too much, or when it dies.
   */
  ask(question: object | undefined, deadlineMillis: number): Promise<unknown>;
  /** `SIGKILL`. Resolves when it is gone. */
  end(): Promise<void>;
}

const besideHeap = 192;
/** Of what it prints, enough to see why it died. */
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
      `the folder of the site's modules can not be read: ${(error as Error).message}. Mount it, or correct DENREI_CHART_MODULES.`,
      { cause: error },
    );
  }
}

/** Starts a process that runs a chart: it sees nothing of our environment, and reads no file but its own. */
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
          `expected the chart to answer, found that its process ${how}. It printed: ${noise.trim().slice(-500) || "nothing"}. It is tried again.`,
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
          `expected at most ${limits.maxOutput} characters, found more. Make fewer or smaller objects.`,
        ),
      );
    }
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    noise = (noise + chunk).slice(-keptNoise);
  });
  child.on("error", (error) => fail(died(`can not be started: ${error.message}`)));
  const gone = new Promise<void>((resolve) => {
    child.on("close", (code, signal) => {
      fail(died(signal === null ? `ended with code ${code}` : `was ended by ${signal}`));
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
        // Nobody's process stays for a chart that has nothing to do.
        for (const handle of handles) handle.unref();
      }
    },
    async end() {
      for (const handle of handles) handle.ref();
      fail(new ChartError("ChartDied", "expected a chart, found one that was closed. It is tried again."));
      await gone;
    },
  };
}

const timedOut = (deadlineMillis: number): ChartError =>
  new ChartError(
    "ChartTimedOut",
    `expected the chart to be done within ${deadlineMillis / 1000} seconds, found it at work. See that nothing in it goes on for ever.`,
  );

const outOfMemory = ({ heapMegabytes }: Limits): ChartError =>
  new ChartError(
    "ChartOutOfMemory",
    `expected the chart to need at most ${heapMegabytes} MB, found that it needs more. See that it keeps nothing from one application to the next.`,
  );
