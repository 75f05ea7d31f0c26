/** The relay: what falls due among a function's timers and marks becomes a request. */
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

/** What the relay needs. */
export interface RelayOptions {
  readonly bus: Bus;
  readonly queue: TicketQueue;
  readonly slots: number;
  /** The function's sweep, if it has one. */
  readonly sweep?: Sweep | undefined;
  /** How long a message is left to who has it, and what ends that: messages under way are handed back then. */
  readonly deadline: PublishDeadlineOptions;
  readonly onError: (error: unknown, subject: string) => void;
}

/** Starts the relay of one function; replicas share its consumer. */
export function startRelay({ bus, queue, slots, sweep, deadline, onError }: RelayOptions): Pull {
  async function swept(delivery: Delivery): Promise<void> {
    try {
      // A function that sweeps no more leaves the last one of its schedules behind.
      if ((await sweep?.due(delivery)) === "stopped") delivery.handBack();
      else delivery.done();
    } catch (error) {
      onError(error, delivery.subject);
    }
  }

  async function handle(delivery: Delivery): Promise<void> {
    if (delivery.subject === sweeps.due(queue.scope)) return swept(delivery);
    let due: { key: ObjectKey; request: Request };
    try {
      due = { key: parseKeySubject(delivery.subject).key, request: parseRequest(delivery.string()) };
    } catch (error) {
      onError(error, delivery.subject);
      return delivery.done();
    }
    try {
      // Never dropped, even where a running reconcile seems to cover it: a timer may have been set anew when the old one
      // fired, and the server purges the subject of a schedule that fires. What fired stands for both.
      await publishDeadline(delivery, deadline).attempt((signal) =>
        queue.request(due.key, due.request, signal),
      );
      delivery.done();
    } catch (error) {
      if (deadline.signal.aborted) return delivery.handBack();
      onError(error, delivery.subject);
      // Otherwise left unanswered: it is delivered again, to any replica.
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
