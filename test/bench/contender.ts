/** A controller under test, as the benchmark drives it. */
import type { Child, ChildSpec, LocalNats } from "../../deploy/local/index.ts";
import { describeExit } from "../../deploy/local/index.ts";
import type { Arena } from "./arena.ts";
import type { Pids } from "./processes.ts";

/** Which of the two. */
export type Side = "denrei" | "go";

/** One side of the comparison. */
export interface Contender {
  readonly side: Side;
  /** Starts it afresh on an empty cluster; `label` names the round in its logs. */
  start(label: string): Promise<Running>;
}

/** A contender that runs. */
export interface Running {
  readonly side: Side;
  /** Everything that exists for this controller alone. */
  readonly pids: Pids;
  /** Resolves when there is nothing left to do for it. */
  settled(): Promise<void>;
  /** Forces a garbage collection where that is possible from outside, and returns the roles of those processes. */
  collectGarbage(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The words that both sing, so that both have the same work. */
export const words = ["Doko", "Zun", "Zun", "Zun", "Zun", "Doko"] as const;

/** Says when a process works. */
export interface ProcessSpec extends Pick<ChildSpec, "name" | "command" | "args" | "env"> {
  /** Its role on the bus, if it uses one. */
  readonly role?: string;
  /** A line of its output that tells that it works. */
  readonly readyLine: RegExp;
  /** Receives its output. */
  readonly onLine?: (line: string) => void;
}

/** Where processes run: an arena, or a bus without a cluster. */
export interface ProcessGround extends Pick<Arena, "signal" | "fail"> {
  readonly platform: LocalNats & Partial<Pick<Arena["platform"], "kubeconfigPath">>;
}

/** Starts a process of a contender; its unexpected end fails the benchmark. */
export async function startProcess(ground: ProcessGround, spec: ProcessSpec): Promise<Child> {
  const { readyLine, onLine, role, ...child } = spec;
  const last: string[] = [];
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  return ground.platform.spawn(
    {
      ...child,
      env: {
        KUBECONFIG: ground.platform.kubeconfigPath,
        ...(role !== undefined && { NATS_URL: ground.platform.natsUrlFor(role) }),
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
        ground.fail(new Error(`${spec.name} ${describeExit(exit)}. Its last lines:\n${last.join("\n")}`)),
    },
    ground.signal,
  );
}

/** The id of a child that runs. */
export function pidOf(child: Child): number {
  if (child.pid === undefined) throw new Error(`expected ${child.name} to run`);
  return child.pid;
}
