/** How long an answer may go on that is a stream: as long as the session that it was begun with. */
import type { Parts } from "../env.ts";
import { AwayError } from "./away.ts";
import { EndedError } from "./issuer.ts";
import { marginMillis } from "./refresh.ts";
import type { OpenSession } from "./sessions.ts";

type Ground = Pick<Parts, "sessions" | "fresh" | "stopping">;

/** Between two looks whether a session is still there: a proxy between may close what is silent for a minute, so that is said as well. Milliseconds. */
export const beatMillis = 20_000;
/** A token that ends at once is used for so long all the same. Milliseconds. */
const leastMillis = 1000;

/** What an open stream is told. */
export interface Lifetime {
  /** Aborts when the token has to be another one, the session has ended, or the dashboard stops. */
  readonly signal: AbortSignal;
  /** Nobody needs to know any more. */
  over(): void;
}

/** Begins to look whether a session and its token last. Calls `beat` from time to time while they do. */
export function lifetime({ sessions, stopping }: Ground, open: OpenSession, beat: () => void): Lifetime {
  const ended = new AbortController();
  const left = open.session.expiresAt - Date.now() - marginMillis;
  const timer = setTimeout(() => ended.abort(), Math.max(leastMillis, left));
  const look = setInterval(async () => {
    beat();
    // A bus that does not answer does not end a session.
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

/** The session with the token that follows; undefined when there is none, and a stream ends. */
export async function following(ground: Ground, { id }: OpenSession): Promise<OpenSession | undefined> {
  if (ground.stopping.aborted) return undefined;
  try {
    const found = await ground.sessions.find(id);
    return found && (await ground.fresh(found));
  } catch (error) {
    // Whoever comes back is told.
    if (error instanceof EndedError || error instanceof AwayError) return undefined;
    throw error;
  }
}
