/**
 * Last values of many subjects in one request: the multi-subject form of direct get, over one long-lived inbox. The
 * library's call subscribes and unsubscribes for each read, which costs more than the read.
 * https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-31.md
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

/** A stored message, as direct get returns it. */
export interface LastValue {
  readonly subject: string;
  readonly sequence: number;
  readonly headers: MsgHdrs | undefined;
  json<T>(): T;
}

/** Reads the last value of every subject that matches one of the filters, or says that there are more than one request may return. */
export type ReadLastValues = (...filters: string[]) => Promise<readonly LastValue[] | "too many">;

/** The bus did not answer a read in time, or refused it. */
export class BusReadError extends Error {
  override readonly name = "BusReadError";
}

interface Reading {
  readonly values: LastValue[];
  readonly resolve: (values: readonly LastValue[] | "too many") => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const readMillis = 5000;

/** Opens reads of one stream. */
export function lastValuesOf(nc: NatsConnection, stream: string): ReadLastValues {
  const inbox = createInbox();
  const readings = new Map<string, Reading>();
  let nextId = 0;

  function end(id: string): Reading | undefined {
    const reading = readings.get(id);
    readings.delete(id);
    clearTimeout(reading?.timer);
    return reading;
  }

  function receive(message: Msg): void {
    const id = message.subject.slice(inbox.length + 1);
    const code = message.headers?.code ?? 0;
    // 204 ends the batch; 404 says that nothing matches.
    if (code !== 0) {
      const reading = end(id);
      if (code === 204 || code === 404) reading?.resolve(reading.values);
      else if (code === 413) reading?.resolve("too many");
      else {
        const said = `${code} ${message.headers?.description}`;
        reading?.reject(new BusReadError(`the bus refused a read of ${stream}: ${said}`));
      }
      return;
    }
    readings.get(id)?.values.push({
      subject: message.headers?.get("Nats-Subject") ?? "",
      sequence: Number(message.headers?.get("Nats-Sequence")),
      headers: message.headers,
      json: <T>() => message.json<T>(),
    });
  }

  nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error === null) receive(message);
    },
  });

  return (...filters) =>
    new Promise((resolve, reject) => {
      const id = String(nextId++);
      const timer = setTimeout(() => {
        end(id)?.reject(
          new BusReadError(`the bus did not answer a read of ${stream} within ${readMillis} ms`),
        );
      }, readMillis);
      readings.set(id, { values: [], resolve, reject, timer });
      nc.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ multi_last: filters }), {
        reply: `${inbox}.${id}`,
      });
    });
}
