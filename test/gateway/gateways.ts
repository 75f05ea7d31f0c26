/** Starts gateways in the test process, on a real bus, with the gateway's own NATS user. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoredMsg } from "@nats-io/jetstream";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, vi } from "vitest";
import { type Gateway, type GatewayOptions, startGateway } from "../../bus/gateway/gateway.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { streams } from "../../bus/subjects.ts";
import { ensureWebhooks } from "../../bus/topology.ts";
import { github } from "../../bus/webhooks/github/github.ts";
import { webhookEventNames } from "../../bus/webhooks/github/payloads.ts";
import { selectedEvent } from "../../bus/webhooks/sharedselection.ts";
import { hookSecret } from "../harness/environment.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { Lines } from "../ket/lines.ts";

/** Counts of the request metric, keyed by its labels: `push stored 202`. */
export type Outcomes = Readonly<Record<string, number>>;

/** A gateway under test. */
export interface TestGateway extends Gateway {
  /** URL of a hook of GitHub; `app` by default. */
  hookUrl(hook?: string): string;
  /** Folder of the webhook secrets. */
  readonly folder: string;
  /** All log lines, including debug. */
  readonly log: Lines;
  outcomes(): Promise<Outcomes>;
}

/** Overrides of the default options; `secrets` are the files of the folder. */
export type TestGatewayOptions = Partial<GatewayOptions> & {
  readonly secrets?: Readonly<Record<string, string>>;
};

/** Selects the built-in fields of each event that has a schema. */
const everyGitHubEvent = webhookEventNames.map((event) =>
  selectedEvent(github.on(event, { keys: () => [] })),
);
const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
/** Time limits in milliseconds that outlast any pause of a busy machine. Tests may set shorter ones. */
const unhurried = { headers: 60_000, request: 60_000, store: 60_000, answer: 60_000 };

/** Starts a bus with the webhook stream, which the bridge creates in production. */
export async function startWebhookBus(): Promise<LocalBus> {
  const local = await startLocalBus();
  await ensureWebhooks(local.bus, busOptions);
  return local;
}

/** Creates a folder of secrets. */
export async function secretsFolder(local: LocalBus, secrets: Readonly<Record<string, string>>) {
  await mkdir(local.directory, { recursive: true });
  const folder = await mkdtemp(join(local.directory, "webhooks-"));
  for (const [hook, text] of Object.entries(secrets)) await writeFile(join(folder, hook), text);
  return folder;
}

/** Starts a gateway. */
export async function openGateway(
  local: LocalBus,
  { secrets = { "github.app": `${hookSecret}\n` }, ...options }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const log = new Lines();
  const registry = new Registry();
  const folder = options.webhookSecrets ?? (await secretsFolder(local, secrets));
  const bus = options.bus ?? (await connectBus({ url: local.natsUrlFor("gateway"), name: "test-gateway" }));
  const gateway = await startGateway({
    bus,
    busOptions,
    webhookAddress: "127.0.0.1:0",
    webhookPath: "/",
    webhookSecrets: folder,
    webhooks: everyGitHubEvent,
    log: pino(
      { level: "debug", formatters: { level: (label) => ({ level: label }) } },
      { write: (line: string) => log.push(line.trim()) },
    ),
    registry,
    ...options,
    times: { ...unhurried, ...options.times },
  });
  return {
    ...gateway,
    hookUrl: (hook = "app") => `${gateway.url}/github/${hook}`,
    folder,
    log,
    async outcomes() {
      const metric = await registry.getSingleMetric("denrei_gateway_requests_total")?.get();
      const happened = (metric?.values ?? []).filter(({ value }) => value > 0);
      return Object.fromEntries(
        happened.map(({ labels: { event, outcome, code }, value }) => [`${event} ${outcome} ${code}`, value]),
      );
    },
    async stop() {
      await gateway.stop();
      if (options.bus === undefined) await bus.nc.close();
    },
  };
}

/** Runs a gateway with its own connection for the duration of `work`. */
export async function withGateway(
  local: LocalBus,
  work: (gateway: TestGateway, bus: Bus) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  const bus = options.bus ?? (await connectBus({ url: local.natsUrlFor("gateway"), name: "test-gateway" }));
  const gateway = await openGateway(local, { ...options, bus });
  try {
    await work(gateway, bus);
  } finally {
    await gateway.stop();
    await bus.nc.close();
  }
}

/** Sequence of the newest stored webhook. */
export const lastSequence = async ({ bus }: LocalBus): Promise<number> =>
  (await bus.jsm.streams.info(streams.webhooks)).state.last_seq;

/** Messages with a sequence above this one. */
export async function storedAfter(local: LocalBus, sequence: number): Promise<StoredMsg[]> {
  const found: StoredMsg[] = [];
  const last = await lastSequence(local);
  for (let seq = sequence + 1; seq <= last; seq++) {
    const message = await local.bus.jsm.direct.getMessage(streams.webhooks, { seq });
    if (message !== null) found.push(message);
  }
  return found;
}

/** Messages of one delivery. */
export const storedOf = async (local: LocalBus, delivery: string): Promise<StoredMsg[]> =>
  (await storedAfter(local, 0)).filter(({ header }) => header.get("ce-id") === delivery);

/** Suspends the server for the duration of `work`: its sockets still receive, but it does not answer. */
export async function paused({ nats }: LocalBus, work: () => Promise<void>): Promise<void> {
  const pid = nats.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  try {
    // The server may answer until the signal has reached each of its threads.
    await vi.waitFor(() => expect(statesOf(pid)).toMatch(/^T+$/), { timeout: 20_000, interval: 2 });
    await work();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

/** The state letter of each thread, or of the process on systems without `/proc`. */
function statesOf(pid: number): string {
  if (!existsSync("/proc/self/task"))
    return execFileSync("/bin/ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).slice(0, 1);
  const stat = (task: string) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8");
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => /\) (\w)/.exec(stat(task))?.[1])
    .join("");
}
