/** What can not be had for real on one machine, played by a program that is given on the command line. */
import { existsSync } from "node:fs";
import type { z } from "zod";
import { ChildStartError, describeExit, type LocalProcesses } from "../../local/index.ts";
import { ownCluster } from "../foreign.ts";
import { AbsentError, UsageError } from "../usage.ts";

/** Who plays what, and what it says when it is ready. */
export interface Part<T> {
  /** `GitHub` */
  readonly plays: string;
  /** The flag that names its program, without dashes. */
  readonly flag: string;
  /** The command that needs it, as it is typed in a checkout. */
  readonly command: string;
  /** Of a line of JSON on its standard output. */
  readonly ready: z.ZodType<T>;
}

/** Where programs are started, and end with it. */
type Spawner = Pick<LocalProcesses, "spawn">;

/** How it is played. */
export interface PlayedOptions {
  /** The program's path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when it ends before the stage does. All that it had is gone then. */
  readonly onEnd: (error: Error) => void;
  /** Called with each further line of its standard output. */
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal: AbortSignal;
  /** How long it may take to be ready, in milliseconds; 30 s unless given. */
  readonly readyMillis?: number | undefined;
}

const whatToDo = ({ command }: Pick<Part<unknown>, "command">): string =>
  `It comes with a checkout and its development dependencies: npm ci && ${command}`;

/** The program. Throws a `UsageError` where there is none. */
export function programOf(part: Part<unknown>, path: string | undefined): string {
  if (path !== undefined && existsSync(path)) return path;
  throw new UsageError(
    `expected --${part.flag} with the path of a program that plays ${part.plays}, found ${path ?? "none"}. ${whatToDo(part)}`,
  );
}

/** Throws a `UsageError` in somebody's own cluster: what is played there would be nothing, and in the way. */
export function refuseOwnCluster(what: string, does: string, page: string): void {
  if (ownCluster())
    throw new UsageError(
      `expected no KUBECONFIG and NATS_URL for ${what}, found both: what it ${does} is played, and is nothing for a cluster. ` +
        `How it is done in one: ${page}`,
    );
}

/** Starts the program; resolves when it is ready. Throws `ChildStartError`, and `AbsentError` where a package is missing. */
export async function startPlayed<T>({ spawn }: Spawner, part: Part<T>, options: PlayedOptions): Promise<T> {
  const { program, args, env, onEnd, onLine, signal, readyMillis } = options;
  const played = Promise.withResolvers<T>();
  let isReady = false;
  try {
    await spawn(
      {
        name: part.flag,
        command: process.execPath,
        args: [program, ...args],
        env: { ...env, NODE_NO_WARNINGS: "1" },
        readyMillis,
        onLine(line) {
          const found = parsed(line, part.ready);
          if (found === undefined) return onLine?.(line);
          isReady = true;
          played.resolve(found);
        },
        async ready() {
          if (!isReady) throw new Error("it has not said what there is");
        },
        onUnexpectedExit: (exit) =>
          onEnd(new AbsentError(`${part.plays}, played by ${program}, ${describeExit(exit)}`)),
      },
      signal,
    );
  } catch (error) {
    const lines = error instanceof ChildStartError ? error.lastLines.join("\n") : "";
    const missing = /Cannot find package '([^']+)'/.exec(lines)?.[1];
    if (missing === undefined) throw error;
    throw new AbsentError(`expected the package ${missing}, which ${program} needs. ${whatToDo(part)}`);
  }
  return played.promise;
}

/** Starts the program for a cluster, as its administrator; resolves when it is ready. Throws what `startPlayed` throws. */
export const startPlayedInCluster = <T>(
  { spawn, kubeconfigPath }: Spawner & { readonly kubeconfigPath: string | undefined },
  part: Part<T>,
  options: Omit<PlayedOptions, "args" | "env">,
): Promise<T> => startPlayed({ spawn }, part, { ...options, args: [], env: { KUBECONFIG: kubeconfigPath } });

function parsed<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
