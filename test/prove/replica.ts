/**
 * A worker without an API server: objects are published by the scenario as the bridge would, the reconcile takes as long
 * as its object says, and journals what it did. For what the bus and the queue promise, nothing else is needed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { KubeConfig } from "@kubernetes/client-node";
import { pino } from "pino";
import { Registry } from "prom-client";
import { z } from "zod";
import { connectBus } from "../../bus/connect.ts";
import { kubeClient } from "../../bus/kube/client.ts";
import { openConnection } from "../../bus/kube/connection.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker } from "../../bus/worker/worker.ts";
import { now, openJournal } from "./journal.ts";

/** What the scenarios change. */
export const Item = defineKind({
  group: "prove.denrei.dev",
  version: "v1",
  kind: "Item",
  description: "Something whose reconcile takes so long.",
  spec: z.object({ millis: z.number().min(0) }),
});

/** The function that reconciles items. */
export const itemsFunction = "items";

/** How a replica is told what it is: environment variables. */
export interface ReplicaEnv {
  readonly NATS_URL: string;
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
  const items = defineFunction({
    name: itemsFunction,
    for: Item,
    concurrency: Number(env.PROVE_CONCURRENCY),
    async reconcile({ metadata, spec }, ctx) {
      const entry = { key: metadata.name, version: Number(metadata.resourceVersion), from: now() };
      journal.begun(entry);
      if (spec.millis > 0) await sleep(spec.millis);
      const to = now();
      ctx.assertOwned();
      journal.effect({ ...entry, to });
      return undefined;
    },
  });
  const nowhere = new KubeConfig();
  nowhere.loadFromClusterAndUser({ name: "none", server: "https://127.0.0.1:1", skipTLSVerify: true }, {
    name: "none",
  } as never);
  const log = pino(
    { level: process.env.DENREI_LOG_LEVEL ?? "warn" },
    pino.destination({ dest: 1, sync: true }),
  );
  const worker = await startWorker({
    bus: await connectBus({ url: env.NATS_URL, name: replica, timeoutMillis: 30_000 }),
    busOptions: {
      replicas: Number(env.PROVE_STREAM_REPLICAS),
      ackWaitMillis: Number(env.PROVE_ACK_WAIT_MILLIS),
    },
    client: kubeClient(await openConnection(nowhere)),
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
