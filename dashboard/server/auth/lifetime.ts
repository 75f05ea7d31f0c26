/** How long a stream may stay open: as long as its session and token are valid. */
import type { Parts } from "../env.ts";
import { SessionEndedError } from "./issuer.ts";
import { marginMillis } from "./refresh.ts";
import type { OpenSession } from "./sessions.ts";
import { UnavailableError } from "./unavailable.ts";

type SessionParts = Pick<Parts, "sessions" | "refresh" | "stopping">;

/** Interval of session checks. Each one also sends a heartbeat, because proxies may close a connection that is silent for a minute. Milliseconds. */
export const heartbeatMillis = 20_000;
/** A stream lasts at least this long, even if its token expires at once. Milliseconds. */
const minLifetimeMillis = 1000;

/** The lifetime of an open stream. */
export interface Lifetime {
  /** Aborts when the token is about to expire, when the session ends, and when the dashboard stops. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Starts checking the session and its token. Calls `beat` before each check. */
export function lifetime(
  { sessions, stopping }: SessionParts,
  open: OpenSession,
  heartbeat: () => void,
): Lifetime {
  const ended = new AbortController();
  const left = open.session.expiresAt - Date.now() - marginMillis;
  const timer = setTimeout(() => ended.abort(), Math.max(minLifetimeMillis, left));
  const check = setInterval(async () => {
    heartbeat();
    // An unavailable bus does not end a session.
    const found = await sessions.find(open.id).catch(() => open);
    if (found === undefined) ended.abort();
  }, heartbeatMillis);
  return {
    signal: AbortSignal.any([ended.signal, stopping]),
    stop() {
      clearTimeout(timer);
      clearInterval(check);
      ended.abort();
    },
  };
}

/** The session with its next token, to continue a stream; undefined if the stream must end. */
export async function nextSession(
  parts: SessionParts,
  { id }: OpenSession,
): Promise<OpenSession | undefined> {
  if (parts.stopping.aborted) return undefined;
  try {
    const found = await parts.sessions.find(id);
    return found && (await parts.refresh(found));
  } catch (error) {
    // The client reconnects, and gets the error then.
    if (error instanceof SessionEndedError || error instanceof UnavailableError) return undefined;
    throw error;
  }
}
