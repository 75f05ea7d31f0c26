/** Reads server-sent events one by one, as a browser does. https://html.spec.whatwg.org/multipage/server-sent-events.html */
import type { Response } from "undici";
import type { Visitor } from "./visitor.ts";

/** A received event. */
export interface ReadEvent<T = unknown> {
  readonly event: string;
  readonly data: T;
  readonly id: string;
}

/** A stream of events. */
export interface EventReader {
  readonly status: number;
  /** All events so far. */
  readonly all: readonly ReadEvent[];
  /** The next event; undefined when the stream has ended. Throws after a minute without one. */
  next<T = unknown>(): Promise<ReadEvent<T> | undefined>;
  /** The next event with this name; skips others. Throws when the stream ends first. */
  nextOf<T = unknown>(event: string): Promise<ReadEvent<T>>;
  close(): void;
}

const deadlineMillis = 60_000;

/** Opens a stream; `lastEventId` is the ID with which a browser would reconnect. */
export async function readEvents(session: Visitor, path: string, lastEventId?: string): Promise<EventReader> {
  const left = new AbortController();
  const response = await session.fetch(path, {
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
    signal: left.signal,
  });
  const all: ReadEvent[] = [];
  const events = eventsIn(response);
  const reader: EventReader = {
    status: response.status,
    all,
    async next<T>() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        const error = new Error(
          `no event on ${path} within ${deadlineMillis} ms; so far: ${JSON.stringify(all.slice(-5))}`,
        );
        timer = setTimeout(() => reject(error), deadlineMillis);
      });
      const { value, done } = await Promise.race([events.next(), late]).finally(() => clearTimeout(timer));
      if (done) return undefined;
      all.push(value);
      return value as ReadEvent<T>;
    },
    async nextOf<T>(event: string) {
      for (;;) {
        const found = await reader.next<T>();
        if (found === undefined)
          throw new Error(
            `the stream ended before an event "${event}"; before: ${JSON.stringify(all.slice(-5))}`,
          );
        if (found.event === event) return found;
      }
    },
    close: () => left.abort(),
  };
  return reader;
}

async function* eventsIn(response: Response): AsyncGenerator<ReadEvent, undefined> {
  let text = "";
  let id = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => /^([^:]*): ?(.*)$/s.exec(line) ?? []);
      const of = (name: string) => fields.filter((field) => field[1] === name).map((field) => field[2] ?? "");
      id = of("id").at(-1) ?? id;
      const data = of("data");
      if (data.length > 0)
        yield { event: of("event").at(-1) ?? "message", data: JSON.parse(data.join("\n")), id };
    }
  }
  return undefined;
}
