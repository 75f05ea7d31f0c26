/** `denrei requests` */
import type { Bus } from "../../bus/connect.ts";
import { aligned } from "../../bus/kube/table.ts";
import { readFrom } from "../../bus/lastvalues.ts";
import { requestOrReplay } from "../../bus/queue/request.ts";
import { consumers, keyText, parseKeySubject, work, workStream } from "../../bus/subjects.ts";
import { age } from "./age.ts";
import { type BusSettings, hasStream, withBus } from "./bus.ts";
import { causeText } from "./deadletters.ts";
import { functionName } from "./named.ts";
import { say } from "./output.ts";

/** A request on the queue. */
interface Listed {
  readonly object: string;
  /** A worker has it, or had it and is asked for it again; otherwise it waits for one. */
  readonly state: "in hand" | "waits";
  /** When it was put on the queue: RFC 3339. */
  readonly time: string;
  readonly attempt: number;
  readonly cause: string;
}

/** Prints the requests of a function that wait or that workers have, the oldest first. */
export async function requests(
  fn: string,
  settings: BusSettings,
  { limit, json }: { limit: number; json?: boolean },
): Promise<void> {
  functionName(fn);
  const listed = await withBus(settings, (bus) => oldest(bus, fn, settings.cluster, limit));
  if (json) return say(JSON.stringify(listed, null, 2));
  if (listed.length === 0) return say("No requests.");
  const rows = listed.map(({ object, state, time, attempt, cause }) => [
    object,
    state,
    age(time),
    String(attempt),
    cause,
  ]);
  say(aligned([["OBJECT", "STATE", "AGE", "FAILED", "CAUSE"], ...rows]));
}

async function oldest(bus: Bus, fn: string, cluster: string, limit: number): Promise<Listed[]> {
  const stream = workStream(fn);
  if (!(await hasStream(bus, stream))) return [];
  const scope = { fn, cluster };
  const [{ delivered }, tickets] = await Promise.all([
    bus.jsm.consumers.info(stream, consumers.worker(scope)),
    readFrom(bus, stream, { filter: work.tickets(scope), from: 1, limit }),
  ]);
  return tickets.map((ticket) => {
    const { attempt, cause } = requestOrReplay(ticket.string());
    return {
      object: keyText(parseKeySubject(ticket.subject).key),
      state: ticket.sequence <= delivered.stream_seq ? "in hand" : "waits",
      time: ticket.time,
      attempt,
      cause: causeText(cause),
    };
  });
}
