/** Webhooks delivered at a receiver's maximum rate. The gateway and Probot alternate in rounds. */
import { setTimeout as sleep } from "node:timers/promises";
import { measure, measureOthers, type Usage } from "../processes.ts";
import { quantile } from "../statistics.ts";
import { figure } from "../table.ts";
import type { WebhookBenchEnvironment } from "./environment.ts";
import type { Receiver, ReceiverName } from "./receiver.ts";

/** One receiver's figures of one round. */
export interface WebhookRun {
  /** Deliveries measured, without those of the warm-up. */
  readonly deliveries: number;
  readonly accepted: number;
  readonly perSecond: number;
  /** From a delivery's first byte to its response's last, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** How many of the accepted deliveries are stored afterwards; undefined if the receiver stores none. */
  readonly kept: number | undefined;
  /** By role: the receiver's own processes, and the `generator`. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** CPU seconds of everything else on the machine during the run. */
  readonly othersCpuSeconds: number;
}

/** The runs of each receiver, one per round. */
export type WebhookRuns = Readonly<Record<ReceiverName, readonly WebhookRun[]>>;

/** The receiver's own process in {@link WebhookRun.usage}. */
export const receiverRole = /^(gateway|probot)$/;

/** Memory of the receiver at the end, in MB. */
export const receiverMemory = ({ usage }: WebhookRun): number =>
  [...usage].find(([role]) => receiverRole.test(role))?.[1].rssMegabytes ?? Number.NaN;

/** Connections, each with one delivery in flight. */
export const connections = 50;
/** Delivered before the measurement, so that V8 has compiled the hot code. */
export const warmUp = 20_000;
/** CPU is counted for this long after the end, to include deferred work. */
const tailMillis = 1000;

/** Runs the rounds. Throws if a delivery is rejected, or accepted and lost. */
export async function webhookRounds(
  environment: WebhookBenchEnvironment,
  receivers: readonly Receiver[],
  sizes: { readonly rounds: number; readonly deliveries: number },
  say: (line: string) => void,
): Promise<WebhookRuns> {
  const runs: Record<ReceiverName, WebhookRun[]> = { denrei: [], probot: [] };
  for (let round = 1; round <= sizes.rounds; round++) {
    for (const receiver of round % 2 === 1 ? receivers : [...receivers].reverse()) {
      const run = await deliver(environment, receiver, String(round), sizes.deliveries);
      runs[receiver.name].push(run);
      const p99 = figure(run.p99);
      say(`round ${round}, ${receiver.name}: ${figure(run.perSecond)} webhooks/s, p99 ${p99} ms`);
    }
  }
  return runs;
}

async function deliver(
  { load, signal }: WebhookBenchEnvironment,
  receiver: Receiver,
  label: string,
  deliveries: number,
): Promise<WebhookRun> {
  const running = await receiver.start(label);
  try {
    const { url } = running;
    await load.make({ url, connections, deliveries: warmUp });
    const pids = new Map([...running.pids, ["generator", load.pid]]);
    const others = measureOthers(pids);
    const usage = measure(pids);
    const { seconds, millis } = await load.make({ url, connections, deliveries });
    await sleep(tailMillis, undefined, { signal });
    const used = usage();
    const othersCpuSeconds = others();
    const kept = await running.kept();
    const accepted = warmUp + deliveries;
    if (kept !== undefined && kept !== accepted)
      throw new Error(`expected exactly the ${accepted} accepted webhooks, found ${kept}`);
    return {
      deliveries,
      accepted,
      perSecond: deliveries / seconds,
      p50: quantile(millis, 0.5),
      p99: quantile(millis, 0.99),
      kept,
      usage: used,
      othersCpuSeconds,
    };
  } finally {
    await running.stop();
  }
}
