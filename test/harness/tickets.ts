/** Who was given tickets, as the answers of workers tell: the bus has the last word on who owns what. */
import type { Bus } from "../../bus/nats/connect.ts";
import { workStream } from "../../bus/subjects.ts";
import type { Replica } from "./kit.ts";

/** What workers answered since they were listened to. */
export interface TicketWatch {
  /** Tickets that came to their end. */
  readonly done: number;
  /** Tickets that were given out again, though none of these workers had handed them back or left them alone after a pause. */
  doubled(workers: readonly Replica[]): string[];
}

/** How often workers left a ticket alone: it comes back by itself, and nothing was done about it. */
const leftAlone = (workers: readonly Replica[], sequence: number): number =>
  workers
    .flatMap(({ log }) => log.records())
    .filter((record) => record.sequence === sequence && String(record.msg).startsWith("ticket skipped"))
    .length;

/** Listens to the answers (ADR-15: their subject has the numbers of the delivery). Connected as the administrator. */
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
            `ticket ${sequence}: given ${count} times, handed back ${back} times`,
        ),
  };
}
