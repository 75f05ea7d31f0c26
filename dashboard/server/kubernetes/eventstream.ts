/**
 * Server-sent event streams. Each ends with its session or token, applies backpressure, and counts against the user's limit.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { following, lifetime } from "../auth/lifetime.ts";
import type { OpenSession } from "../auth/sessions.ts";
import type { Env, Parts } from "../env.ts";
import { crowded } from "../limited.ts";

/** A client that does not read for this long is disconnected. Milliseconds. */
const patienceMillis = 60_000;

/** A server-sent event. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: object;
  /** The browser sends it back as `Last-Event-ID` when it reconnects. */
  readonly id?: string;
}

/** An open stream. */
export interface EventStream {
  readonly token: string;
  /** Aborts when the client disconnects, when the token or session ends, and when the dashboard stops. */
  readonly signal: AbortSignal;
  /** Resolves when the event is written, so that events do not pile up for a slow reader. */
  tell(event: StreamedEvent): Promise<void>;
}

/** What to do when the token has expired: run `again` with the next token, or end the stream and let the browser reconnect. */
export type Onward = "again" | "over";

/** Dependencies of a stream. */
export type StreamGround = Pick<Parts, "sessions" | "fresh" | "streams" | "metrics" | "stopping" | "log">;

/** Responds with a stream that lasts as long as `run`. */
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
