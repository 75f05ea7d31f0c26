/**
 * A worker with no API server but a stand-in: objects are published by the scenario as the bridge would, the reconcile
 * takes as long as its object says, and journals what it did. For what the bus and the queue promise, nothing else is needed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { z } from "zod";
import { claim } from "../../bus/bridge/lease.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker } from "../../bus/worker/worker.ts";
import { clientOf } from "../harness/clients.ts";
import { now, openJournal } from "./journal.ts";

/** What the scenarios change. */
export const Item = defineKind({
  group: "prove.denrei.dev",
  version: "v1",
  kind: "Item",
  description: "Something whose reconcile takes so long.",
  spec: z.object({
    millis: z.number().min(0),
    /** If given, its reconcile asks to be called again at this time, and then has an effect that can be had once. Unix milliseconds. */
    due: z.number().optional(),
  }),
});

/** The function that reconciles items. */
export const itemsFunction = "items";

/** Bucket of the effects of items that were due: one {@link DueEffect} per item. */
export const dueBucket = "PROVE_DUE";

/** Where the effect of a key is written, in that bucket. */
export const dueSubject = (key: string): string => `$KV.${dueBucket}.${key}`;

/** The effect of an item that was due. */
export interface DueEffect {
  readonly replica: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** How a replica is told what it is: environment variables. */
export interface ReplicaEnv {
  readonly NATS_URL: string;
  /** Of the stand-in for the API server. */
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

  /** A conditional write, as every effect should be: the second one is refused. */
  async function haveEffect(key: string): Promise<void> {
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
      if (wait <= 0 && spec.due !== undefined) await haveEffect(metadata.name);
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
    cluster: "test",
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
