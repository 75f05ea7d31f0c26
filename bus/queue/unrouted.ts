/** Counts messages that no worker of a function has routed yet. */
import type { Bus } from "../nats/connect.ts";
import { consumersOf } from "../permissions.ts";
import { workStream } from "../subjects.ts";
import type { FunctionSubscription } from "../topology.ts";

/**
 * Counts events, webhooks, and due requests that no worker has turned into tickets. Workers make the tickets, so for a function
 * without a worker this is its whole backlog. Rejects with a `JetStreamApiError` (404) before a bridge has created the consumers.
 */
export async function countUnrouted(
  { jsm }: Pick<Bus, "jsm">,
  subscription: FunctionSubscription,
): Promise<number> {
  const routed = consumersOf(subscription).filter(([stream]) => stream !== workStream(subscription.scope.fn));
  const infos = await Promise.all(routed.map(([stream, consumer]) => jsm.consumers.info(stream, consumer)));
  return infos.reduce((sum, { num_pending, num_ack_pending }) => sum + num_pending + num_ack_pending, 0);
}
