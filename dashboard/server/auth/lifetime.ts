/** How long a stream may stay open: as long as its session and token are valid. */
import type { Parts } from "../env.ts";
import { AwayError } from "./away.ts";
import { EndedError } from "./issuer.ts";
import { marginMillis } from "./refresh.ts";
import type { OpenSession } from "./sessions.ts";

type Ground = Pick<Parts, "sessions" | "fresh" | "stopping">;

/** Interval of session checks. Each one also sends a heartbeat, because proxies may close a connection that is silent for a minute. Milliseconds. */
export const beatMillis = 20_000;
/** A stream lasts at least this long, even if its token expires at once. Milliseconds. */
const leastMillis = 1000;

/** The lifetime of an open stream. */
export interface Lifetime {
  /** Aborts when the token is about to expire, when the session ends, and when the dashboard stops. */
  readonly signal: AbortSignal;
  /** Stops the checks. */
  over(): void;
}

/** Starts checking the session and its token. Calls `beat` before each check. */
export function lifetime({ sessions, stopping }: Ground, open: OpenSession, beat: () => void): Lifetime {
  const ended = new AbortController();
  const left = open.session.expiresAt - Date.now() - marginMillis;
  const timer = setTimeout(() => ended.abort(), Math.max(leastMillis, left));
  const look = setInterval(async () => {
    beat();
    // An unavailable bus does not end a session.
    const found = await sessions.find(open.id).catch(() => open);
    if (found === undefined) ended.abort();
  }, beatMillis);
  return {
    signal: AbortSignal.any([ended.signal, stopping]),
    over() {
      clearTimeout(timer);
      clearInterval(look);
      ended.abort();
    },
  };
}

/** The session with its next token, to continue a stream; undefined if the stream must end. */
export async function following(ground: Ground, { id }: OpenSession): Promise<OpenSession | undefined> {
  if (ground.stopping.aborted) return undefined;
  try {
    const found = await ground.sessions.find(id);
    return found && (await ground.fresh(found));
  } catch (error) {
    // The client reconnects, and gets the error then.
    if (error instanceof EndedError || error instanceof AwayError) return undefined;
    throw error;
  }
}
