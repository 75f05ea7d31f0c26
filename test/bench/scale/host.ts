/**
 * A process with replicas of one function, each a whole worker with its own connection to the bus. Their reconciles only record which
 * samples they have seen. There is no API server.
 */
import type { Msg } from "@nats-io/transport-node";
import { pino } from "pino";
import { Registry } from "prom-client";
import { connectBus } from "../../../bus/nats/connect.ts";
import { ticketQueue } from "../../../bus/queue/queue.ts";
import { newRequest } from "../../../bus/queue/request.ts";
import { defineFunction } from "../../../bus/worker/function.ts";
import { startWorker, type Worker } from "../../../bus/worker/worker.ts";
import { clientOfNobody } from "../../harness/clients.ts";
import { now } from "../../harness/now.ts";
import { busOptions, type Made, type Order } from "../queueplan.ts";
import { makeRequests } from "../requests.ts";
import {
  type Counted,
  commandSchema,
  commandSubject,
  hostSchema,
  hostVariable,
  Sample,
  sampleOf,
  subscriptionFor,
  type Taken,
} from "./hostplan.ts";

const host = hostSchema.parse(JSON.parse(process.env[hostVariable] ?? "null"));
const url = process.env.NATS_URL ?? "";
const { scope } = subscriptionFor(host.fn);
const log = pino(
  { level: process.env.DENREI_LOG_LEVEL ?? "warn" },
  pino.destination({ dest: 1, sync: true }),
);
const client = await clientOfNobody();
/** So many fit into a message. */
const takenAtOnce = 20_000;
/** Milliseconds to the first reconcile, by index. */
const seen = new Map<number, number>();

const observe = defineFunction({
  name: host.fn,
  for: Sample,
  async reconcile({ spec: { index, at } }) {
    if (!seen.has(index)) seen.set(index, now() - at);
    return undefined;
  },
});

async function startReplica(replica: string): Promise<Worker> {
  return startWorker({
    bus: await connectBus({ url, name: replica, timeoutMillis: 30_000 }),
    busOptions: { ...busOptions, replicas: host.copies },
    client,
    cluster: scope.cluster,
    replica,
    functions: [observe],
    log,
    registry: new Registry(),
  });
}

const bus = await connectBus({ url, name: host.name, timeoutMillis: 30_000 });
const queue = ticketQueue(bus, scope, { replica: host.name });

/** Requests samples that exist, in versions that the replicas have read. */
const requestSamples = async (order: Order): Promise<Made> => ({
  owned: await makeRequests(bus, scope, order, (index) => {
    const { namespace = "", name, uid, resourceVersion } = sampleOf(index, 0).metadata;
    const { group, kind } = Sample;
    const cause = { type: "object", group, kind, namespace, name, uid, resourceVersion } as const;
    return queue.request({ namespace, name }, newRequest(cause));
  }),
});

async function answer(message: Msg): Promise<Counted | Taken | Made> {
  const command = commandSchema.parse(message.json());
  if (command.command === "count") return { count: seen.size };
  if (command.command === "request") return requestSamples(command.order);
  const samples = [...seen]
    .slice(0, takenAtOnce)
    .map(([index, millis]) => [index, Math.round(millis * 100) / 100] as const);
  for (const [index] of samples) seen.delete(index);
  return { samples };
}

bus.nc.subscribe(commandSubject(host), {
  callback: (_error, message) =>
    void answer(message).then(
      (found) => message.respond(JSON.stringify(found)),
      // The benchmark then reports that this process has ended, with these lines.
      (error: Error) => {
        process.stdout.write(`${error.stack}\n`);
        process.exit(1);
      },
    ),
});
const workers: Worker[] = [];
// One after another, as in a rollout.
for (const replica of host.replicas) workers.push(await startReplica(replica));
await bus.nc.flush();
process.stdout.write("host ready\n");
process.once("SIGTERM", async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  process.exit();
});
