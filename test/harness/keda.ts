/**
 * Evaluates triggers like KEDA's nats-jetstream scaler: from the consumer's lag on the monitoring ports of the servers.
 * https://keda.sh/docs/latest/scalers/nats-jetstream/, and the scaler of github.com/kedacore/keda/v2 v2.21.0.
 */
import { z } from "zod";

/** A trigger's settings. */
export interface TriggerMetadata {
  readonly account: string;
  readonly stream: string;
  readonly consumer: string;
  readonly activationLagThreshold: string;
}

/** The monitoring ports of a bus. */
export interface Monitors {
  /** `natsServerMonitoringEndpoint`: a host and a port. */
  readonly endpoint: string;
  /** The URL for a host and port. */
  urlOf(address: string): string;
  /** Maps the host and port of a server's route; the identity by default. */
  routeOf?(address: string): string;
}

const Consumer = z.object({
  name: z.string(),
  num_pending: z.number().default(0),
  num_ack_pending: z.number().default(0),
  cluster: z.object({ leader: z.string().default("") }).default({ leader: "" }),
});
const Jsz = z.object({
  meta_cluster: z.object({ cluster_size: z.number() }).optional(),
  account_details: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        stream_detail: z
          .array(z.object({ name: z.string(), consumer_detail: z.array(Consumer).default([]) }))
          .default([]),
      }),
    )
    .default([]),
});
const Varz = z.object({
  connect_urls: z.array(z.string()).default([]),
  cluster: z.object({ urls: z.array(z.string()).default([]) }),
});

/** Messages that wait for a consumer or are in flight at its clients. Throws where the scaler fails. */
export async function lagOf(metadata: TriggerMetadata, monitors: Monitors): Promise<number> {
  const found = await consumerAt(monitors.endpoint, metadata, monitors);
  const consumer = found.servers > 1 ? await atLeader(metadata, monitors) : found.consumer;
  if (consumer === undefined) throw new Error(`${metadata.stream} has no consumer ${metadata.consumer}`);
  return consumer.num_pending + consumer.num_ack_pending;
}

/** Whether the trigger alone would run a worker. */
export const isActive = async (metadata: TriggerMetadata, monitors: Monitors): Promise<boolean> =>
  (await lagOf(metadata, monitors)) > Number(metadata.activationLagThreshold);

/** Only a consumer's leader knows its progress. Servers are identified by their names in the routes. */
async function atLeader(metadata: TriggerMetadata, monitors: Monitors) {
  const { connect_urls, cluster } = Varz.parse(await get(monitors, monitors.endpoint, "/varz"));
  if (connect_urls.length > 0)
    throw new Error(
      `the servers advertise client addresses, but their certificates contain names only: ${connect_urls}`,
    );
  const { routeOf = (address) => address } = monitors;
  for (const url of cluster.urls) {
    const [node = ""] = routeOf(url).split(".");
    const { consumer } = await consumerAt(`${node}.${monitors.endpoint}`, metadata, monitors);
    if (consumer?.cluster.leader === node) return consumer;
  }
  throw new Error(`the consumer ${metadata.consumer} has no leader among ${cluster.urls}`);
}

async function consumerAt(
  address: string,
  { account, stream, consumer }: TriggerMetadata,
  monitors: Monitors,
) {
  const query = new URLSearchParams({ acc: account, consumers: "true", config: "true" });
  const { meta_cluster, account_details } = Jsz.parse(await get(monitors, address, `/jsz?${query}`));
  return {
    servers: meta_cluster?.cluster_size ?? 1,
    consumer: account_details
      .filter(({ id, name }) => id === account || name === account)
      .flatMap(({ stream_detail }) => stream_detail)
      .find(({ name }) => name === stream)
      ?.consumer_detail.find(({ name }) => name === consumer),
  };
}

async function get(monitors: Monitors, address: string, path: string): Promise<unknown> {
  const answer = await fetch(`${monitors.urlOf(address)}${path}`);
  return answer.json();
}
