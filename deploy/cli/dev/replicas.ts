/** The replicas of `denrei dev`. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launcher } from "denrei/runtime";
import type { Environment } from "../../environment/environment.ts";
import { type Child, ChildStartError, type Exit } from "../../local/index.ts";
import { type Declared, requestAllSignal } from "./protocol.ts";
import type { LogRecord } from "./screen.ts";

/** A gateway runs no functions, so it is the same program as in a cluster. */
const programs = {
  bridge: [fileURLToPath(new URL("./replica.ts", import.meta.url)), "bridge"],
  worker: [fileURLToPath(new URL("./replica.ts", import.meta.url)), "worker"],
  gateway: [launcher, "gateway"],
} as const;
export type ReplicaRole = keyof typeof programs;

/** More than any orderly stop takes. Milliseconds. */
const graceMillis = 12_000;
/** Number of output lines to keep: they say why a replica exited. */
const keptLines = 60;
/** Output of Node's inspector. */
const inspectorOutput =
  /^(Debugger (listening on ws:.*|ending on ws:.*|attached\.)|For help, see: https:\/\/nodejs\.org.*|Waiting for the debugger to disconnect.*)$/;

/** What to start. */
export interface ReplicaSpec {
  readonly environment: Pick<Environment, "processes" | "env">;
  readonly role: ReplicaRole;
  readonly name: string;
  readonly functions: readonly string[];
  /** Called at each start. */
  readonly env: () => Readonly<Record<string, string | undefined>>;
  /** Options for Node itself. */
  readonly nodeArgs?: readonly string[];
  readonly onRecord: (record: LogRecord) => void;
  /** Called with the URL of the webhook that a worker serves, before the worker installs CRDs that name it. */
  readonly onWebhook?: (url: string) => void;
  /** Called for each line that the code itself prints, as soon as the replica is ready. */
  readonly onPrinted?: ((line: string) => void) | undefined;
  /** Called if it exits after it was ready, unless it was stopped. */
  readonly onUnexpectedExit: (exit: Exit, replica: Replica) => void;
}

/** The code did not load or start; `output` has the last lines of the process. */
export class CodeError extends Error {
  override readonly name = "CodeError";
  readonly output: readonly string[];

  constructor(message: string, output: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.output = output;
  }
}

/** A replica. */
export interface Replica {
  readonly child: Child;
  /** Declarations of a worker. */
  readonly declared: Declared | undefined;
  /** URL of Node's inspector, if it listens. */
  readonly inspector: string | undefined;
  /** URL at which a gateway receives webhooks. */
  readonly url: string | undefined;
  /** URL of the webhook for the API server that a worker serves; undefined if its code needs none. */
  readonly webhook: string | undefined;
  /** The last output lines that are neither log records nor printed. */
  readonly output: readonly string[];
  /** Starts it; resolves when it takes requests. Rejects with a {@link CodeError}. */
  start(): Promise<void>;
  /** Makes a worker request a reconcile of every object. */
  requestAll(): void;
  /** Stops it; resolves when it takes no more requests. It still completes those in flight. */
  retire(): Promise<void>;
}

/** State that is read from the output of a replica. */
interface OutputState {
  output: readonly string[];
  declared: Declared | undefined;
  inspector: string | undefined;
  url: string | undefined;
  webhook: string | undefined;
  isReady: boolean;
  ready: PromiseWithResolvers<void>;
  readonly stopping: PromiseWithResolvers<void>;
}

/** Prepares a replica; nothing runs before `start`. */
export function prepareReplica(spec: ReplicaSpec): Replica {
  const state: OutputState = {
    output: [],
    declared: undefined,
    inspector: undefined,
    url: undefined,
    webhook: undefined,
    isReady: false,
    ready: Promise.withResolvers<void>(),
    stopping: Promise.withResolvers<void>(),
  };
  const child = prepareChild(spec, state, (exit) => spec.onUnexpectedExit(exit, replica));
  const replica: Replica = {
    child,
    get declared() {
      return state.declared;
    },
    get inspector() {
      return state.inspector;
    },
    get url() {
      return state.url;
    },
    get webhook() {
      return state.webhook;
    },
    get output() {
      return state.output;
    },
    async start() {
      state.output = [];
      state.isReady = false;
      state.webhook = undefined;
      state.ready = Promise.withResolvers();
      try {
        await child.start();
      } catch (error) {
        if (!(error instanceof ChildStartError)) throw error;
        throw new CodeError(error.message, state.output, { cause: error });
      }
    },
    requestAll() {
      if (child.pid !== undefined) process.kill(child.pid, requestAllSignal);
    },
    async retire() {
      const stopped = child.stop();
      await Promise.race([state.stopping.promise, stopped]);
    },
  };
  return replica;
}

function prepareChild(spec: ReplicaSpec, state: OutputState, onUnexpectedExit: (exit: Exit) => void): Child {
  const { environment, role, name, functions } = spec;
  return environment.processes.prepare({
    name,
    command: process.execPath,
    args: [...(spec.nodeArgs ?? []), ...programs[role], ...functions],
    get env() {
      return {
        DENREI_HTTP_ADDRESS: undefined,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), "node-compile-cache"),
        ...environment.env,
        ...spec.env(),
        DENREI_LOG_LEVEL: "debug",
        DENREI_REPLICA: name,
        NODE_NO_WARNINGS: "1",
      };
    },
    graceMillis,
    onLine: (line) => readLine(line, spec, state),
    ready: () => state.ready.promise,
    onUnexpectedExit,
  });
}

function readLine(line: string, spec: ReplicaSpec, state: OutputState): void {
  const record = recordIn(line, spec.name);
  if (record !== undefined) {
    readRecord(record, spec, state);
    spec.onRecord(record);
    return;
  }
  state.inspector = /^Debugger listening on (ws:\/\/\S+)$/.exec(line)?.[1] ?? state.inspector;
  if (inspectorOutput.test(line)) return;
  if (state.isReady && spec.onPrinted) spec.onPrinted(line);
  else state.output = [...state.output, line].slice(-keptLines);
}

function readRecord(record: LogRecord, spec: ReplicaSpec, state: OutputState): void {
  const { role, onPrinted } = spec;
  if (record.msg === "admission ready") {
    state.webhook = String(record.url);
    spec.onWebhook?.(state.webhook);
  }
  if (record.msg === "declared") state.declared = record as unknown as Declared;
  if (record.msg === "stopping") state.stopping.resolve();
  if (record.msg !== `${role} ready`) return;
  if (role === "gateway") state.url = String(record.url);
  state.isReady = true;
  if (onPrinted) {
    for (const line of state.output) onPrinted(line);
    state.output = [];
  }
  state.ready.resolve();
}

/** A function may print JSON that looks like a log record, but without the replica's name. */
function recordIn(line: string, replica: string): LogRecord | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const record = JSON.parse(line);
    return typeof record?.msg === "string" && record.replica === replica ? record : undefined;
  } catch {
    return undefined;
  }
}
