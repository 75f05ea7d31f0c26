/**
 * Server-sent event streams. Each ends with its session or token, applies backpressure, and counts against the user's limit.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { lifetime, nextSession } from "./auth/lifetime.ts";
import type { OpenSession } from "./auth/sessions.ts";
import type { Env, Parts } from "./env.ts";
import { tooManyRequests } from "./requestlimit.ts";

/** A client that does not read for this long is disconnected. Milliseconds. */
const writeTimeoutMillis = 60_000;

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
  send(event: StreamedEvent): Promise<void>;
}

/** What to do when the token has expired: run `again` with the next token, or end the stream and let the browser reconnect. */
export type AfterRun = "again" | "over";

/** Dependencies of a stream. */
export type StreamParts = Pick<Parts, "sessions" | "refresh" | "streams" | "metrics" | "stopping" | "log">;

/** Responds with a stream that lasts as long as `run`. */
export function eventStream(
  c: Context<Env>,
  parts: StreamParts,
  run: (stream: EventStream) => Promise<AfterRun>,
): Response {
  const { streams, metrics, log } = parts;
  const release = streams.acquire(c.get("session").session.user);
  if (release === undefined) return tooManyRequests(c, "streams", streams);
  c.header("x-accel-buffering", "no");
  return streamSSE(c, async (sse) => {
    const withTimeout = async (write: Promise<unknown>) => {
      const timer = setTimeout(() => sse.abort(), writeTimeoutMillis);
      await write.finally(() => clearTimeout(timer));
    };
    let isHeartbeatPending = false;
    const heartbeat = () => {
      if (isHeartbeatPending) return;
      isHeartbeatPending = true;
      void withTimeout(sse.write(": \n\n")).then(() => {
        isHeartbeatPending = false;
      });
    };
    const send = ({ data, ...event }: StreamedEvent) =>
      withTimeout(sse.writeSSE({ ...event, data: JSON.stringify(data) }));
    metrics.streams.inc();
    try {
      let open: OpenSession | undefined = c.get("session");
      while (open !== undefined && !sse.aborted) {
        const { signal, stop } = lifetime(parts, open, heartbeat);
        sse.onAbort(stop);
        try {
          const after = await run({ token: open.session.idToken, signal, send });
          const isNext = after === "again" && signal.aborted && !sse.aborted;
          open = isNext ? await nextSession(parts, open) : undefined;
        } catch (error) {
          if (!signal.aborted) log.error({ err: error, path: c.req.path }, "stream failed");
          return;
        } finally {
          stop();
        }
      }
    } finally {
      metrics.streams.dec();
      release();
    }
  });
}
