/**
 * Streams of server-sent events that end with the session's token, are but so many for each session, and wait for whoever reads
 * them. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import type { Env, Parts } from "../env.ts";
import { crowded } from "./places.ts";

/** A proxy between may close what is silent for a minute. Milliseconds. */
const beatMillis = 20_000;
/** Whoever takes nothing for so long does not read. Milliseconds. */
const patienceMillis = 60_000;

/** One event. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: object;
  /** What a browser comes back with. */
  readonly id?: string;
}

/** A stream that is open. */
export interface EventStream {
  /** Aborts when nobody reads any more, and when the token ends. */
  readonly signal: AbortSignal;
  /** Resolves when the event is on its way: nothing piles up for whoever reads slowly. */
  tell(event: StreamedEvent): Promise<void>;
}

/** Answers with a stream that `run` writes, and that ends with it. */
export function eventStream(
  c: Context<Env>,
  { streams, log }: Pick<Parts, "streams" | "log">,
  run: (stream: EventStream) => Promise<void>,
): Response {
  const { id, session } = c.get("session");
  const leave = streams.take(id);
  if (leave === undefined) return crowded(c, "streams", streams);
  c.header("x-accel-buffering", "no");
  return streamSSE(c, async (sse) => {
    const ended = new AbortController();
    sse.onAbort(() => ended.abort());
    const patiently = async (write: Promise<unknown>) => {
      const timer = setTimeout(() => sse.abort(), patienceMillis);
      await write.finally(() => clearTimeout(timer));
    };
    // A stream is no longer than its token: whoever comes back has a new one.
    const end = setTimeout(() => ended.abort(), Math.max(0, session.expiresAt - Date.now()));
    let isBeating = false;
    const beat = setInterval(() => {
      if (isBeating) return;
      isBeating = true;
      void patiently(sse.write(": \n\n")).then(() => {
        isBeating = false;
      });
    }, beatMillis);
    try {
      await run({
        signal: ended.signal,
        tell: ({ data, ...event }) => patiently(sse.writeSSE({ ...event, data: JSON.stringify(data) })),
      });
    } catch (error) {
      if (!ended.signal.aborted) log.error({ err: error, path: c.req.path }, "stream failed");
    } finally {
      clearTimeout(end);
      clearInterval(beat);
      leave();
    }
  });
}
