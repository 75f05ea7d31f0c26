/** The relay: what falls due among a function's timers and marks becomes a request. */
import type { Bus } from "../connect.ts";
import { consumers, parseKeySubject, timersStream } from "../subjects.ts";
import type { Delivery } from "./delivery.ts";
import { type Pull, startPull } from "./pull.ts";
import type { TicketQueue } from "./queue.ts";
import { parseRequest } from "./request.ts";

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
    try {
      const { key } = parseKeySubject(delivery.subject);
      const request = parseRequest(delivery.string());
      // Never dropped, even where a running reconcile seems to cover it: a timer may have been set anew when the old one
      // fired, and the server purges the subject of a schedule that fires. What fired stands for both.
      await queue.request(key, request, signal);
      delivery.done();
    } catch (error) {
      if (signal.aborted) return delivery.handBack();
      onError(error, delivery.subject);
      delivery.done();
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
