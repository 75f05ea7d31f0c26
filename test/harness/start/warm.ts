/**
 * Reuses processes for replicas: in a short test, most of a replica's cost is loading and compiling modules. A process runs one
 * replica at a time, which can be stopped, paused, and killed like any other process.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ChildSpec,
  type Exit,
  type Launched,
  lifelineScript,
  sendToGroup,
} from "../../../deploy/local/run/child.ts";
import { openRun, type Run } from "../../../deploy/local/run/run.ts";
import { wordsVariable } from "../../../functions/zundoko/words.ts";
import { compiledBefore, packagesVariable, quickly } from "./quick.ts";

/** Variables that modules of functions read once, at import. */
const readOnce = ["CONTROLLER_NAMESPACE", wordsVariable];
/** Variables with lasting effects: Node, the OpenTelemetry packages, and functions of tests keep their values. */
const keeping = /^(NODE_(?!NO_WARNINGS|COMPILE_CACHE)|OTEL_|DENREI_TEST_)/;
/** Replicas per process. Each one leaves a little behind in Node, such as the timer of its event loop metric. */
const mostLives = 25;
const endOfLife = "end of life: ";

/** How to start a replica. */
export interface LifeOrder {
  /** Whether the arguments are those of `denrei`, or of `test/fixtures/replica.ts`. */
  readonly program: "denrei" | "functions";
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process that runs replicas. */
interface Host {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  lives: number;
  /** Receives the output of the current replica. */
  onLine: (line: string) => void;
  onEnd: (exit: Exit) => void;
}

const program = fileURLToPath(new URL("./host.ts", import.meta.url));
/** Hosts without a replica, by the values of {@link readOnce}. */
const idle = new Map<string, Host[]>();
/** Its reaper stops the hosts when this process ends, even by a crash. */
let run: Promise<Run> | undefined;

/** Whether this test run reuses processes, and a replica with these variables of its own leaves nothing behind in one. */
export const canBeWarm = (own: LifeOrder["env"]): boolean =>
  process.env[packagesVariable] !== undefined && !Object.keys(own).some((name) => keeping.test(name));

/** Resolves with a function that starts a replica in an idle host, or in a new one. */
export async function warmLaunch(order: LifeOrder): Promise<NonNullable<ChildSpec["launch"]>> {
  run ??= openRun();
  const { directory } = await run;
  return (write) => launch(order, directory, write);
}

function launch(order: LifeOrder, directory: string, write: (line: string) => void): Launched {
  const key = JSON.stringify(readOnce.map((name) => order.env[name]));
  const waiting = (idle.get(key) ?? []).filter(isAlive);
  idle.set(key, waiting);
  const host = waiting.pop() ?? startHost(order.env, directory);
  const { pid, stdin } = host.process;
  host.lives++;
  host.onLine = write;
  const { promise: ended, resolve } = Promise.withResolvers<Exit>();
  host.onEnd = (exit) => {
    nothingFrom(host);
    if (!isAlive(host)) return resolve(exit);
    if (host.lives < mostLives) idle.get(key)?.push(host);
    else stdin.end();
    resolve(exit);
  };
  stdin.write(`${JSON.stringify(order)}\n`);
  return {
    pid,
    ended,
    send(signal) {
      if (pid === undefined) return;
      if (signal === "SIGKILL") sendToGroup(pid, signal);
      else host.process.kill(signal);
    },
  };
}

const isAlive = ({ process: { exitCode, signalCode } }: Host): boolean =>
  exitCode === null && signalCode === null;

function nothingFrom(host: Host): void {
  host.onLine = () => undefined;
  host.onEnd = () => undefined;
}

function startHost(env: LifeOrder["env"], directory: string): Host {
  const args = [process.execPath, ...quickly(), program, endOfLife];
  const child = spawn("/bin/sh", [lifelineScript, "enter", directory, ...args], {
    stdio: "pipe",
    env: { ...env, ...compiledBefore },
    // A process group of its own, like every child of a run.
    detached: true,
  });
  // The host must not keep this process alive.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
  const host: Host = { process: child, lives: 0, onLine: () => undefined, onEnd: () => undefined };
  // The close event reports the end of the process.
  child.stdin.on("error", () => undefined);
  let isSaid = false;
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", (line) => {
      if (!line.startsWith(endOfLife)) return host.onLine(line);
      // The line has arrived on both outputs.
      if (isSaid) host.onEnd({ code: Number(line.slice(endOfLife.length)), signal: null });
      isSaid = !isSaid;
    });
  child.once("error", () => host.onEnd({ code: null, signal: null }));
  child.once("close", (code, signal) => host.onEnd({ code, signal }));
  return host;
}
