/**
 * Streams of server-sent events. They end with the session or its token, wait for their readers, and each user may have a limited
 * number of them. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { following, lifetime } from "../auth/lifetime.ts";
import type { OpenSession } from "../auth/sessions.ts";
import type { Env, Parts } from "../env.ts";
import { crowded } from "../limited.ts";

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
  readonly token: string;
  /** Aborts when nobody reads any more, when the token or the session ends, and when the dashboard stops. */
  readonly signal: AbortSignal;
  /** Resolves when the event is on its way: nothing piles up for whoever reads slowly. */
  tell(event: StreamedEvent): Promise<void>;
}

/** What there is to do when the token has ended: the same with the next one, or nothing, and the browser comes back. */
export type Onward = "again" | "over";

/** What a stream is made with. */
export type StreamGround = Pick<Parts, "sessions" | "fresh" | "streams" | "metrics" | "stopping" | "log">;

/** Answers with a stream that `run` writes, and that ends with it. */
export function eventStream(
  c: Context<Env>,
  parts: StreamGround,
  run: (stream: EventStream) => Promise<Onward>,
): Response {
  const { streams, metrics, log } = parts;
  const leave = streams.take(c.get("session").session.user);
  if (leave === undefined) return crowded(c, "streams", streams);
  c.header("x-accel-buffering", "no");
  return streamSSE(c, async (sse) => {
    const patiently = async (write: Promise<unknown>) => {
      const timer = setTimeout(() => sse.abort(), patienceMillis);
      await write.finally(() => clearTimeout(timer));
    };
    let isBeating = false;
    const beat = () => {
      if (isBeating) return;
      isBeating = true;
      void patiently(sse.write(": \n\n")).then(() => {
        isBeating = false;
      });
    };
    const tell = ({ data, ...event }: StreamedEvent) =>
      patiently(sse.writeSSE({ ...event, data: JSON.stringify(data) }));
    metrics.streams.inc();
    try {
      let open: OpenSession | undefined = c.get("session");
      while (open !== undefined && !sse.aborted) {
        const { signal, over } = lifetime(parts, open, beat);
        sse.onAbort(over);
        try {
          const onward = await run({ token: open.session.idToken, signal, tell });
          const isNext = onward === "again" && signal.aborted && !sse.aborted;
          open = isNext ? await following(parts, open) : undefined;
        } catch (error) {
          if (!signal.aborted) log.error({ err: error, path: c.req.path }, "stream failed");
          return;
        } finally {
          over();
        }
      }
    } finally {
      metrics.streams.dec();
      leave();
    }
  });
}
