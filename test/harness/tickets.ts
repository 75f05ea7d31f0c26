/** Records the delivery of tickets from the workers' acknowledgments, because the bus decides who owns an object. */
import type { Bus } from "../../bus/nats/connect.ts";
import { workStream } from "../../bus/subjects.ts";
import type { Replica } from "./environment.ts";

/** Acknowledgments since the watch started. */
export interface TicketWatch {
  /** Tickets that were acknowledged. */
  readonly done: number;
  /** Tickets that were delivered twice although no worker handed them back or skipped them after a pause. */
  doubled(workers: readonly Replica[]): string[];
}

/** How often workers skipped a ticket: it is redelivered without any action on it. */
const leftAlone = (workers: readonly Replica[], sequence: number): number =>
  workers
    .flatMap(({ log }) => log.records())
    .filter((record) => record.sequence === sequence && String(record.msg).startsWith("ticket skipped"))
    .length;

/** Subscribes to acknowledgments (ADR-15: their subject contains the delivery counters). Needs the administrator's connection. */
export async function watchTickets({ nc }: Bus, fn: string): Promise<TicketWatch> {
  const handedBack = new Map<string, number>();
  const deliveries = new Map<string, number>();
  const done = new Set<string>();
  nc.subscribe(`$JS.ACK.${workStream(fn)}.>`, {
    callback(_error, message) {
      const [, , , , delivered, sequence = ""] = message.subject.split(".");
      deliveries.set(sequence, Math.max(deliveries.get(sequence) ?? 0, Number(delivered)));
      const answer = message.string();
      if (answer === "+ACK") done.add(sequence);
      if (answer === "-NAK") handedBack.set(sequence, (handedBack.get(sequence) ?? 0) + 1);
    },
  });
  await nc.flush();
  return {
    get done() {
      return done.size;
    },
    doubled: (workers) =>
      [...deliveries]
        .map(([sequence, count]) => {
          const back = (handedBack.get(sequence) ?? 0) + leftAlone(workers, Number(sequence));
          return { sequence, count, back };
        })
        .filter(({ count, back }) => count > back + 1)
        .map(
          ({ sequence, count, back }) =>
            `ticket ${sequence}: delivered ${count} times, handed back ${back} times`,
        ),
  };
}
