/**
 * Reads all messages of a stream once. The client library's own consumers parse headers on arrival and stop at the first
 * message whose headers they reject. Here, such a message has no headers.
 * Wire format: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-13.md
 */
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { Bus } from "./connect.ts";
import { type Delivery, deliveryOf } from "./delivery.ts";

/** Selects the messages to read. */
export interface ReadStoredOptions {
  readonly stream: string;
  readonly filter: string;
  /** Omit payloads. */
  readonly headersOnly: boolean;
  readonly signal: AbortSignal;
}

const batch = 1000;
/** After this silence the connection counts as broken. Milliseconds. */
const silentMillis = 5000;

/**
 * Passes on every matching message, oldest first, with its age in milliseconds when the read began. Rejects if the bus falls silent or the signal aborts. */
export async function readStored(
  bus: Pick<Bus, "nc" | "inbox" | "jsm">,
  { stream, filter, headersOnly, signal }: ReadStoredOptions,
  each: (delivery: Delivery, ageMillis: number) => void,
): Promise<void> {
  const { nc, jsm } = bus;
  const { name, num_pending, created } = await jsm.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    filter_subjects: [filter],
    headers_only: headersOnly,
    inactive_threshold: 30_000 * 1e6,
    mem_storage: true,
    num_replicas: 1,
  });
  const began = Date.parse(created);
  const done = Promise.withResolvers<void>();
  const inbox = bus.inbox.create();
  const silence = setTimeout(
    () => done.reject(new Error(`the bus stopped sending messages of ${stream}`)),
    silentMillis,
  );
  const abort = () => done.reject(signal.reason);
  let open = 0;

  function pull(): void {
    open = batch;
    const request = JSON.stringify({ batch, no_wait: true });
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, request, { reply: inbox });
  }

  function receive(message: Msg): void {
    silence.refresh();
    // Stored messages arrive under their own subject, status messages under the inbox.
    if (message.subject === inbox) {
      const { code = 0, description = "" } = message.headers ?? {};
      // 404 and 408: no more messages.
      if (code === 404 || code === 408) done.resolve();
      else done.reject(new Error(`the bus rejected a read of ${stream}: ${code} ${description}`));
      return;
    }
    const delivery = deliveryOf(bus, message);
    each(delivery, began - delivery.storedAt);
    open--;
    if (delivery.pending === 0) done.resolve();
    else if (open === 0) pull();
  }

  const subscription = nc.subscribe(inbox, {
    callback(error, message) {
      try {
        if (error) throw error;
        receive(message);
      } catch (thrown) {
        done.reject(thrown);
      }
    },
  });
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    if (num_pending === 0) return;
    pull();
    await done.promise;
  } finally {
    done.promise.catch(() => undefined);
    clearTimeout(silence);
    signal.removeEventListener("abort", abort);
    subscription.unsubscribe();
    // Without this, the server deletes the consumer after `inactive_threshold`.
    void jsm.consumers.delete(stream, name).catch(() => undefined);
  }
}
