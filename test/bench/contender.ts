/** The interface through which the benchmark runs a controller. */
import type { Child, ChildSpec, LocalNats } from "../../deploy/local/index.ts";
import { describeExit } from "../../deploy/local/index.ts";
import type { BenchEnvironment } from "./environment.ts";
import type { Pids } from "./processes.ts";

/** The sides: the same API calls on Denrei, on Denrei at another commit, and in Go; and Go with one write per reconcile. */
export const sides = ["denrei", "before", "go", "goOneWrite"] as const;
export type Side = (typeof sides)[number];

/** Names of the sides in results. */
export const sideNames: Readonly<Record<Side, string>> = {
  denrei: "Denrei",
  before: "Denrei before",
  go: "Go",
  goOneWrite: "Go, one write per reconcile",
};

/** A figure of each side; a side that does not run has none. */
export function eachSide<T>(value: () => T): Record<Side, T> {
  return { denrei: value(), before: value(), go: value(), goOneWrite: value() };
}

/** One side of the comparison. */
export interface Contender {
  readonly side: Side;
  /** Starts it on an empty cluster; `label` names the round in its logs. */
  start(label: string): Promise<Running>;
}

/** A running contender. */
export interface Running {
  readonly side: Side;
  /** All of its processes. */
  readonly pids: Pids;
  /** Resolves when it has no work left. */
  settled(): Promise<void>;
  /** Forces a garbage collection where that is possible from outside, and returns the roles of those processes. */
  collectGarbage(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The words that both sides emit, so that both do the same work. */
export const words = ["Doko", "Zun", "Zun", "Zun", "Zun", "Doko"] as const;

/** How to start a process and detect that it is ready. */
export interface ProcessSpec extends Pick<ChildSpec, "name" | "command" | "args" | "env" | "cwd"> {
  /** Its role on the bus, if it uses one. */
  readonly role?: string;
  /** The output line that shows it is ready. */
  readonly readyLine: RegExp;
  /** Receives its output. */
  readonly onLine?: (line: string) => void;
}

/** The platform on which processes run; a bus is enough. */
export interface ProcessEnvironment extends Pick<BenchEnvironment, "signal" | "fail"> {
  readonly platform: Pick<LocalNats, "spawn" | "natsUrlFor"> &
    Partial<Pick<BenchEnvironment["platform"], "kubeconfigPath">>;
}

/** Starts a process of a contender; if it ends unexpectedly, the benchmark fails. */
export async function startProcess(environment: ProcessEnvironment, spec: ProcessSpec): Promise<Child> {
  const { readyLine, onLine, role, ...child } = spec;
  const last: string[] = [];
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  return environment.platform.spawn(
    {
      ...child,
      env: {
        KUBECONFIG: environment.platform.kubeconfigPath,
        ...(role !== undefined && { NATS_URL: environment.platform.natsUrlFor(role) }),
        DENREI_ZUNDOKO_WORDS: words.join(","),
        NODE_NO_WARNINGS: "1",
        ...child.env,
      },
      ready: () => isReady,
      graceMillis: 20_000,
      onLine(line) {
        if (readyLine.test(line)) ready();
        onLine?.(line);
        last.push(line);
        if (last.length > 10) last.shift();
      },
      onUnexpectedExit: (exit) =>
        environment.fail(
          new Error(`${spec.name} ${describeExit(exit)}. Its last lines:\n${last.join("\n")}`),
        ),
    },
    environment.signal,
  );
}

/** The ID of a running child. */
export function pidOf(child: Pick<Child, "name" | "pid">): number {
  if (child.pid === undefined) throw new Error(`expected ${child.name} to run`);
  return child.pid;
}
