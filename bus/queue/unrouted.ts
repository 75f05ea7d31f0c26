/** What a function has not been told of yet, because no worker has had time for it, or because there is none. */
import type { Bus } from "../nats/connect.ts";
import { consumersOf } from "../permissions.ts";
import { workStream } from "../subjects.ts";
import type { Interest } from "../topology.ts";

/**
 * How many events, webhooks and due requests no worker has turned into tickets yet. Tickets are made by workers, so of a function
 * that has none this is all there is to see. Rejects with a `JetStreamApiError` (404) where no bridge has made its consumers.
 */
export async function countUnrouted({ jsm }: Pick<Bus, "jsm">, interest: Interest): Promise<number> {
  const routed = consumersOf(interest).filter(([stream]) => stream !== workStream(interest.scope.fn));
  const infos = await Promise.all(routed.map(([stream, consumer]) => jsm.consumers.info(stream, consumer)));
  return infos.reduce((sum, { num_pending, num_ack_pending }) => sum + num_pending + num_ack_pending, 0);
}
