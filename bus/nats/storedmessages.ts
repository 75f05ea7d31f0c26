/**
 * Everything that a stream has, once. The client library's own consumers read headers where messages arrive and end when
 * there are some that they refuse; here such a message is one without headers.
 * Wire format: https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-13.md
 */
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { Bus } from "./connect.ts";
import { type Delivery, deliveryOf } from "./delivery.ts";

/** What to read. */
export interface ReadStoredOptions {
  readonly stream: string;
  readonly filter: string;
  /** Without payloads. */
  readonly headersOnly: boolean;
  readonly signal: AbortSignal;
}

const batch = 1000;
/** A bus that says nothing for so long is not reading any more: its connection broke. Milliseconds. */
const silentMillis = 5000;

/** Hands over every message that matches, oldest first. Rejects when the bus falls silent or the signal aborts. */
export async function readStored(
  bus: Pick<Bus, "nc" | "inbox" | "jsm">,
  { stream, filter, headersOnly, signal }: ReadStoredOptions,
  each: (delivery: Delivery) => void,
): Promise<void> {
  const { nc, jsm } = bus;
  const { name, num_pending } = await jsm.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    filter_subjects: [filter],
    headers_only: headersOnly,
    inactive_threshold: 30_000 * 1e6,
    mem_storage: true,
    num_replicas: 1,
  });
  const done = Promise.withResolvers<void>();
  const inbox = bus.inbox.create();
  const silent = setTimeout(
    () => done.reject(new Error(`the bus does not go on with what ${stream} has`)),
    silentMillis,
  );
  const abort = () => done.reject(signal.reason);
  let open = 0;

  function ask(): void {
    open = batch;
    const pull = JSON.stringify({ batch, no_wait: true });
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, pull, { reply: inbox });
  }

  function receive(message: Msg): void {
    silent.refresh();
    // A message of the stream comes under the subject it was stored under.
    if (message.subject === inbox) {
      const { code = 0, description = "" } = message.headers ?? {};
      // 404 and 408: there are no more.
      if (code === 404 || code === 408) done.resolve();
      else done.reject(new Error(`the bus refuses to read ${stream}: ${code} ${description}`));
      return;
    }
    const delivery = deliveryOf(bus, message);
    each(delivery);
    open--;
    if (delivery.pending === 0) done.resolve();
    else if (open === 0) ask();
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
    ask();
    await done.promise;
  } finally {
    done.promise.catch(() => undefined);
    clearTimeout(silent);
    signal.removeEventListener("abort", abort);
    subscription.unsubscribe();
    // It would be forgotten after a while by itself.
    void jsm.consumers.delete(stream, name).catch(() => undefined);
  }
}
