/** The relay turns a function's due timers and marks into requests. */
import type { Bus } from "../nats/connect.ts";
import type { Delivery } from "../nats/delivery.ts";
import { consumers, type ObjectKey, parseKeySubject, sweeps, timersStream } from "../subjects.ts";
import {
  HeldTooLongError,
  handBackLater,
  type PublishDeadlineOptions,
  publishDeadline,
} from "./publishdeadline.ts";
import { type Pull, startPull } from "./pull.ts";
import type { TicketQueue } from "./queue.ts";
import { parseRequest, type Request } from "./request.ts";
import type { Sweep } from "./sweep.ts";

/** Options of {@link startRelay}. */
export interface RelayOptions {
  readonly bus: Bus;
  readonly queue: TicketQueue;
  readonly slots: number;
  /** The function's sweep, if it has one. */
  readonly sweep?: Sweep | undefined;
  /** How long one message may take. When the signal aborts, messages in flight are handed back. */
  readonly deadline: PublishDeadlineOptions;
  readonly onError: (error: unknown, subject: string) => void;
}

/** Starts the relay of one function; replicas share its consumer. */
export function startRelay({ bus, queue, slots, sweep, deadline, onError }: RelayOptions): Pull {
  async function handleSweep(delivery: Delivery): Promise<void> {
    try {
      // A function that no longer sweeps leaves its last schedule behind.
      if ((await sweep?.due(delivery)) === "stopped") delivery.handBack();
      else delivery.done();
    } catch (error) {
      onError(error, delivery.subject);
    }
  }

  async function handle(delivery: Delivery): Promise<void> {
    if (delivery.subject === sweeps.due(queue.scope)) return handleSweep(delivery);
    let due: { key: ObjectKey; request: Request };
    try {
      due = { key: parseKeySubject(delivery.subject).key, request: parseRequest(delivery.string()) };
    } catch (error) {
      onError(error, delivery.subject);
      return delivery.done();
    }
    try {
      // Never dropped, even if a running reconcile seems to cover it. When a schedule fires, the server purges its subject, and
      // with it a newer timer that was set at that moment. So the fired one stands for both.
      await publishDeadline(delivery, deadline).attempt((signal) =>
        queue.request(due.key, due.request, signal),
      );
      delivery.done();
    } catch (error) {
      if (deadline.signal.aborted) return delivery.handBack();
      onError(error, delivery.subject);
      // Other errors leave the message unanswered: the bus redelivers it to any replica.
      if (error instanceof HeldTooLongError) handBackLater(delivery);
    }
  }
  return startPull({
    bus,
    stream: timersStream(queue.scope.fn),
    consumer: consumers.relay(queue.scope),
    slots,
    handle,
  });
}
