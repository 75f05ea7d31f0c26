/** The other sides: the same operator in Go on controller-runtime, in `peer/`. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Child, LocalPlatform } from "../../deploy/local/index.ts";
import { Lines } from "../ket/lines.ts";
import { type Contender, pidOf, type Side, startProcess, words } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("./peer/", import.meta.url));

/** The peer's sources. */
export interface PeerVersions {
  readonly go: string;
  readonly controllerRuntime: string;
}

/** Builds the peer. Throws with instructions if Go is missing or the build fails. */
export async function buildPeer(signal: AbortSignal): Promise<PeerVersions> {
  try {
    const { stdout } = await run("go", ["env", "GOVERSION"], { cwd: folder, signal });
    await run("go", ["build", "-o", "peer", "."], { cwd: folder, signal });
    const module = await readFile(`${folder}go.mod`, "utf8");
    return {
      go: stdout.trim().replace(/^go/, ""),
      controllerRuntime: /controller-runtime v(\S+)/.exec(module)?.[1] ?? "unknown",
    };
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    throw new Error(
      code === "ENOENT"
        ? "expected Go in PATH to build the peer (test/bench/peer, see its go.mod for the version), found none. Install it from https://go.dev/dl, or measure our side's own parts with --only queue."
        : `expected to build the peer with go build, but ${stderr?.trim() || (error as Error).message}`,
      { cause: error },
    );
  }
}

/** A replica of the built peer, outside the benchmark. */
export interface GoReplica extends Child {
  /** Resolves when this process reconciles: with an election, when it leads. */
  leads(): Promise<void>;
}

/** Starts a replica, alone or with leader election; resolves when it works or is on standby. */
export async function startGoReplica(
  platform: LocalPlatform,
  name: string,
  election: "elect" | "alone",
): Promise<GoReplica> {
  const lines = new Lines();
  // The index of the current process's first line.
  let firstLine = 0;
  // It lists all objects first. A hundred thousand of them take long on a shared machine.
  const printed = (word: string) => lines.until((line) => line === word, 300_000, firstLine);
  const child = await platform.spawn({
    name,
    command: `${folder}peer`,
    args: election === "elect" ? ["--leader-elect"] : [],
    env: { KUBECONFIG: platform.kubeconfigPath, DENREI_ZUNDOKO_WORDS: words.join(",") },
    onLine: (line) => lines.push(line),
    ready: () => printed("started"),
    readyMillis: 60_000,
  });
  return Object.assign(Object.create(child) as Child, {
    leads: () => printed("ready").then(() => undefined),
    start(signal?: AbortSignal) {
      firstLine = lines.all.length;
      return child.start(signal);
    },
  });
}

/** The built peer. */
export function goPeer(environment: BenchEnvironment, side: Exclude<Side, "denrei"> = "go"): Contender {
  return {
    side,
    async start(label) {
      const name = `${side}-${label}`;
      const child = await startProcess(environment, {
        name,
        command: `${folder}peer`,
        args: side === "goOneWrite" ? ["--one-write"] : [],
        readyLine: /^ready$/,
      });
      return {
        side,
        pids: new Map([["controller", pidOf(child)]]),
        settled: () => Promise.resolve(),
        collectGarbage: () => Promise.resolve([]),
        stop: () => child.stop(),
      };
    },
  };
}
