/** The replicas that run one state of the code. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../environment/environment.ts";
import { type Child, ChildStartError, type Exit } from "../../local/index.ts";
import { askSignal, type Declared } from "./protocol.ts";
import type { LogRecord } from "./screen.ts";

/** A gateway has nothing to do with functions: what runs in a cluster does here. */
const programs = {
  bridge: [fileURLToPath(new URL("./replica.ts", import.meta.url)), "bridge"],
  worker: [fileURLToPath(new URL("./replica.ts", import.meta.url)), "worker"],
  gateway: [fileURLToPath(new URL("../denrei.ts", import.meta.url)), "gateway"],
} as const;
/** An orderly stop takes less, whatever is being reconciled. Milliseconds. */
const graceMillis = 12_000;
/** What it wrote that is no log record and is not told at once, of which the end is kept: why it died. */
const keptLines = 60;
/** What Node's inspector has to say. */
const ofInspector =
  /^(Debugger (listening on ws:.*|ending on ws:.*|attached\.)|For help, see: https:\/\/nodejs\.org.*|Waiting for the debugger to disconnect.*)$/;

/** What to start. */
export interface ReplicaSpec {
  readonly environment: Pick<Environment, "processes" | "env">;
  readonly role: keyof typeof programs;
  readonly name: string;
  readonly functions: readonly string[];
  /** Asked for at each start. */
  readonly env: () => Readonly<Record<string, string | undefined>>;
  /** Arguments of Node's own. */
  readonly nodeArgs?: readonly string[];
  readonly onRecord: (record: LogRecord) => void;
  /** What code prints by itself, line by line: from when it takes requests, with what it has printed before. */
  readonly onPrinted?: ((line: string) => void) | undefined;
  /** It ended though nobody stopped it, after it was ready. */
  readonly onDeath: (exit: Exit, replica: Replica) => void;
}

/** The code could not be loaded or did not begin: the last words of the process that tried. */
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
  /** What a worker said of its code. */
  readonly declared: Declared | undefined;
  /** Where Node's inspector listens, if it does. */
  readonly inspector: string | undefined;
  /** Where a gateway receives webhooks. */
  readonly url: string | undefined;
  /** What it wrote last that is no log record, and was not told. */
  readonly output: readonly string[];
  /** Starts it; resolves when it takes requests. Rejects with a {@link CodeError}. */
  start(): Promise<void>;
  /** Lets a worker ask for every object. */
  askForAll(): void;
  /** Asks it to stop; resolves when it takes no more requests. It finishes what it has begun. */
  retire(): Promise<void>;
}

/** Prepares a replica; nothing runs before `start`. */
export function prepareReplica(spec: ReplicaSpec): Replica {
  const { environment, role, name, functions, onRecord } = spec;
  let output: string[] = [];
  let declared: Declared | undefined;
  let inspector: string | undefined;
  let url: string | undefined;
  let isReady = false;
  let ready = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<void>();

  function hear(line: string): void {
    const record = recordIn(line, name);
    if (record === undefined) {
      inspector = /^Debugger listening on (ws:\/\/\S+)$/.exec(line)?.[1] ?? inspector;
      if (ofInspector.test(line)) return;
      if (isReady && spec.onPrinted) spec.onPrinted(line);
      else output = [...output, line].slice(-keptLines);
      return;
    }
    if (record.msg === "declared") declared = record as unknown as Declared;
    if (record.msg === `${role} ready`) {
      if (role === "gateway") url = String(record.url);
      isReady = true;
      if (spec.onPrinted) {
        output.forEach(spec.onPrinted);
        output = [];
      }
      ready.resolve();
    }
    if (record.msg === "stopping") stopping.resolve();
    onRecord(record);
  }

  const child = environment.processes.prepare({
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
    onLine: hear,
    ready: () => ready.promise,
    onUnexpectedExit: (exit) => spec.onDeath(exit, replica),
  });

  const replica: Replica = {
    child,
    get declared() {
      return declared;
    },
    get inspector() {
      return inspector;
    },
    get url() {
      return url;
    },
    get output() {
      return output;
    },
    async start() {
      output = [];
      isReady = false;
      ready = Promise.withResolvers();
      try {
        await child.start();
      } catch (error) {
        if (!(error instanceof ChildStartError)) throw error;
        throw new CodeError(error.message, output, { cause: error });
      }
    },
    askForAll() {
      if (child.pid !== undefined) process.kill(child.pid, askSignal);
    },
    async retire() {
      const gone = child.stop();
      await Promise.race([stopping.promise, gone]);
    },
  };
  return replica;
}

/** What a function prints may look like a record, too. */
function recordIn(line: string, replica: string): LogRecord | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const record = JSON.parse(line);
    return typeof record?.msg === "string" && record.replica === replica ? record : undefined;
  } catch {
    return undefined;
  }
}
