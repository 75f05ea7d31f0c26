/**
 * A worker with a simulated API server. The scenario publishes objects as the bridge would; each reconcile takes as long as its
 * object says, and is recorded in a journal. That is enough to check the bus and the queue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { z } from "zod";
import { claim } from "../../bus/bridge/lease.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import type { QueueScope } from "../../bus/subjects.ts";
import type { FunctionSubscription } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker } from "../../bus/worker/worker.ts";
import { clientOf } from "../harness/clients.ts";
import { now } from "../harness/now.ts";
import { openJournal } from "./journal.ts";

/** The kind that scenarios change. */
export const Item = defineKind({
  group: "prove.denrei.dev",
  version: "v1",
  kind: "Item",
  description: "An object whose reconcile takes a given time.",
  spec: z.object({
    millis: z.number().min(0),
    /** If set, the reconcile asks to run again at this time, and then has an effect that can happen once. Unix milliseconds. */
    due: z.number().optional(),
  }),
});

/** The function that reconciles items. */
export const itemsFunction = "items";

const cluster = "test";
/** The queue of that function. */
export const scope: QueueScope = { fn: itemsFunction, cluster };
/** The subscription of that function. */
export const subscription: FunctionSubscription = { scope, kinds: [Item] };

/** Bucket of the effects of due items: one {@link DueEffect} per item. */
export const dueBucket = "PROVE_DUE";

/** The effect's key in that bucket. */
export const dueSubject = (key: string): string => `$KV.${dueBucket}.${key}`;

/** The effect of a due item. */
export interface DueEffect {
  readonly replica: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The environment variables that configure a replica. */
export interface ReplicaEnv {
  readonly NATS_URL: string;
  /** URL of the simulated API server. */
  readonly PROVE_API_URL: string;
  readonly DENREI_REPLICA: string;
  readonly PROVE_JOURNALS: string;
  readonly PROVE_ACK_WAIT_MILLIS: string;
  readonly PROVE_STREAM_REPLICAS: string;
  readonly PROVE_CONCURRENCY: string;
}

if (process.argv[1]?.endsWith("prove/replica.ts")) {
  const env = process.env as unknown as ReplicaEnv;
  const replica = env.DENREI_REPLICA;
  const journal = openJournal(env.PROVE_JOURNALS, replica);
  const bus = await connectBus({ url: env.NATS_URL, name: replica, timeoutMillis: 30_000 });

  /** A conditional write, as every effect should be: the second one is rejected. */
  async function writeEffect(key: string): Promise<void> {
    const effect: DueEffect = { replica, at: Date.now() };
    const subject = dueSubject(key);
    await claim(() => publishUntilAnswered(bus, subject, JSON.stringify(effect), { lastSubjectSequence: 0 }));
  }

  const items = defineFunction({
    name: itemsFunction,
    for: Item,
    concurrency: Number(env.PROVE_CONCURRENCY),
    async reconcile({ metadata, spec }, ctx) {
      const entry = { key: metadata.name, version: Number(metadata.resourceVersion), from: now() };
      journal.begun(entry);
      const wait = spec.due === undefined ? 0 : spec.due - Date.now();
      if (wait <= 0 && spec.due !== undefined) await writeEffect(metadata.name);
      if (spec.millis > 0) await sleep(spec.millis);
      const to = now();
      ctx.assertOwned();
      journal.effect({ ...entry, to });
      return wait > 0 ? { requeueAfter: wait } : undefined;
    },
  });
  const log = pino(
    { level: process.env.DENREI_LOG_LEVEL ?? "warn" },
    pino.destination({ dest: 1, sync: true }),
  );
  const worker = await startWorker({
    bus,
    busOptions: {
      replicas: Number(env.PROVE_STREAM_REPLICAS),
      ackWaitMillis: Number(env.PROVE_ACK_WAIT_MILLIS),
    },
    client: await clientOf(env.PROVE_API_URL),
    cluster,
    replica,
    functions: [items],
    log,
    registry: new Registry(),
  });
  process.stdout.write("worker ready\n");
  process.once("SIGTERM", async () => {
    await worker.stop();
    process.exit();
  });
}
