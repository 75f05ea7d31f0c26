/**
 * Reads the last values of many subjects in one request: the multi-subject form of direct get.
 * https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-31.md
 */
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import type { Bus } from "./connect.ts";
import { readableHeaders } from "./headers.ts";

/** A stored message, as direct get returns it. */
export interface LastValue {
  readonly subject: string;
  readonly sequence: number;
  /** Time of storage: RFC 3339. */
  readonly time: string;
  readonly headers: MsgHdrs | undefined;
  string(): string;
}

/** Reads the last value of every subject that matches one of the filters. A subject must not match two filters. */
export type ReadLastValues = (...filters: string[]) => Promise<readonly LastValue[]>;

/** The bus rejected a read. */
export class BusReadError extends Error {
  override readonly name = "BusReadError";
}

/** The server's limit on subjects in one multi-subject read. */
const maxSubjects = 1024;

/** Reads a batch of messages of one stream into `values`. Returns whether the batch is complete. */
async function batch(
  { inbox }: Pick<Bus, "inbox">,
  stream: string,
  query: object,
  values: LastValue[],
): Promise<"all" | "too many"> {
  let outcome: "all" | "too many" = "all";
  await inbox.collect(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), (answer) => {
    if (readableHeaders(answer) === undefined)
      throw new BusReadError(
        `a message of ${stream} has unreadable headers: delete it (${JSON.stringify(query)})`,
      );
    const code = answer.headers?.code ?? 0;
    if (code === 0) {
      values.push(storedIn(answer));
      return "more";
    }
    // 204 ends the batch; 404 means that nothing matches.
    if (code === 413) outcome = "too many";
    else if (code !== 204 && code !== 404)
      throw new BusReadError(
        `the bus rejected a read of ${stream}: ${code} ${answer.headers?.description ?? ""}`,
      );
    return "last";
  });
  return outcome;
}

/** Start of a read: a sequence, or a time. Pass RFC 3339 text for nanosecond precision. */
export type Start = number | Date | string;

const timeText = (time: Date | string): string => (typeof time === "string" ? time : time.toISOString());

/** Reads matching messages, oldest first, from a sequence or a time on: at most `limit`, and no more than 1,024. */
export async function readFrom(
  bus: Pick<Bus, "inbox">,
  stream: string,
  { filter, from, limit = maxSubjects }: { filter: string; from: Start; limit?: number },
): Promise<readonly LastValue[]> {
  const values: LastValue[] = [];
  const start = typeof from === "number" ? { seq: from } : { start_time: timeText(from) };
  await batch(bus, stream, { ...start, next_by_subj: filter, batch: limit }, values);
  return values;
}

/** Reads all matching messages, oldest first, from a sequence or a time on, in the largest batches that the server allows. */
export async function* readAll(
  bus: Pick<Bus, "inbox">,
  stream: string,
  { filter, from }: { filter: string; from: Start },
): AsyncGenerator<LastValue> {
  for (let next: Start = from; ; ) {
    const page: readonly LastValue[] = await readFrom(bus, stream, { filter, from: next });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.sequence + 1;
  }
}

/** Returns a reader of one stream. */
export function lastValuesOf(bus: Pick<Bus, "inbox">, stream: string): ReadLastValues {
  async function pages(filter: string): Promise<LastValue[]> {
    const values: LastValue[] = [];
    for (;;) {
      const page = await readFrom(bus, stream, { filter, from: (values.at(-1)?.sequence ?? 0) + 1 });
      values.push(...page);
      if (page.length < maxSubjects) return values;
    }
  }

  return async (...filters) => {
    const values: LastValue[] = [];
    if ((await batch(bus, stream, { multi_last: filters }, values)) === "all") return values;
    return (await Promise.all(filters.map(pages))).flat();
  };
}

const storedIn = (answer: Msg): LastValue => ({
  subject: answer.headers?.get("Nats-Subject") ?? "",
  sequence: Number(answer.headers?.get("Nats-Sequence")),
  time: answer.headers?.get("Nats-Time-Stamp") ?? "",
  headers: answer.headers,
  string: () => answer.string(),
});
