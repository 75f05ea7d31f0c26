/** A process of a run. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Child, ChildSpec, LocalNats } from "@denrei/cli/local/index";
import { Lines } from "./lines.ts";

/** A replica and its log. */
export interface Replica extends Child {
  readonly log: Lines;
  /** Requests a path of its probe port, such as `/readyz`. */
  probe(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Sends `SIGKILL` and does not wait. */
  kill(): Promise<void>;
}

/** How to start a replica. */
export interface ReplicaSpec {
  readonly name: string;
  /** Arguments of Node: its options, the program, and the program's arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  readonly launch?: ChildSpec["launch"];
  /** What to wait for: readiness (the default), or only the probe port. */
  readonly until?: "ready" | "serving";
}

/** Starts the process of a role: `bridge`, `worker`, or `gateway`, and functions as arguments. */
export type StartReplica = (
  platform: LocalNats,
  name: string,
  args: readonly string[],
  options: { readonly env: ReplicaSpec["env"] },
) => Promise<Replica>;

const program = fileURLToPath(new URL("./process.ts", import.meta.url));
const defaultDeadline = 60_000;
const lines = {
  ready: /"msg":"(bridge|worker|gateway|dashboard|admission) ready"/,
  serving: /"msg":"starting"/,
};

/** Starts a process as any user's installation does. */
export const startReplica: StartReplica = (platform, name, args, { env }) =>
  launchReplica(platform, {
    name,
    args: [program, ...args],
    env: {
      NATS_URL: platform.natsUrl,
      DENREI_REPLICA: name,
      DENREI_LOG_LEVEL: "debug",
      NODE_NO_WARNINGS: "1",
      VITEST: undefined,
      ...env,
    },
  });

/** Starts a process of Node; resolves when it is ready. */
export async function launchReplica(
  platform: LocalNats,
  { until = "ready", ...spec }: ReplicaSpec,
): Promise<Replica> {
  const log = new Lines();
  // The index of the current start's first log line; earlier lines do not count.
  let life = 0;
  const child = await platform.spawn({
    ...spec,
    command: process.execPath,
    onLine: (line) => log.push(line),
    ready: () => log.until((line) => lines[until].test(line), defaultDeadline, life),
    readyMillis: defaultDeadline,
    graceMillis: 12_000,
  });
  return Object.assign(Object.create(child) as Child, {
    log,
    async probe(path: string) {
      const records = log.records().filter(({ msg }) => msg === "starting");
      const answer = await fetch(`${records.at(-1)?.probes}${path}`);
      return { status: answer.status, text: (await answer.text()).trim() };
    },
    kill: () => child.stop("SIGKILL"),
    start(signal?: AbortSignal) {
      life = log.all.length;
      return child.start(signal);
    },
  });
}

/** A gateway and the URL of its webhook. */
export interface GatewayReplica extends Replica {
  /** Changes with every start. */
  hookUrl(): string;
}

/** The gateway's settings for GitHub's hook `app` with these secrets, on a free port. */
export async function gatewaySettings(
  { directory }: Pick<LocalNats, "directory">,
  name: string,
  secrets: readonly string[],
): Promise<ReplicaSpec["env"]> {
  // Gateways start at the same time: none may read a file while another writes it.
  const folder = join(directory, `webhooks-${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "github.app"), `${secrets.join("\n")}\n`);
  return { DENREI_WEBHOOK_SECRETS: folder, DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0" };
}

/** A replica as a gateway with the hook of {@link gatewaySettings}. */
export const gatewayOf = (gateway: Replica): GatewayReplica =>
  Object.assign(Object.create(gateway) as Replica, {
    hookUrl() {
      const ready = gateway.log.all.findLast((line) => line.includes('"gateway ready"'));
      return `${JSON.parse(ready ?? "{}").url}/github/app`;
    },
  });
