/** The relay: what falls due among a function's timers and marks becomes a request. */
import type { Bus } from "../connect.ts";
import { consumers, type ObjectKey, parseKeySubject, timersStream } from "../subjects.ts";
import type { Delivery } from "./delivery.ts";
import { type Pull, startPull } from "./pull.ts";
import type { TicketQueue } from "./queue.ts";
import { parseRequest, type Request } from "./request.ts";

/** What the relay needs. */
export interface RelayOptions {
  readonly bus: Bus;
  readonly queue: TicketQueue;
  readonly slots: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown, subject: string) => void;
}

/** Starts the relay of one function; replicas share its consumer. */
export function startRelay({ bus, queue, slots, signal, onError }: RelayOptions): Pull {
  async function handle(delivery: Delivery): Promise<void> {
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
      await queue.request(due.key, due.request, signal);
      delivery.done();
    } catch (error) {
      if (signal.aborted) return delivery.handBack();
      // Left unanswered: it is delivered again, to any replica.
      onError(error, delivery.subject);
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
