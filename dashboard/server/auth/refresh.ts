/**
 * Token refresh. An issuer that rotates refresh tokens accepts each one once, and treats a second use as theft. So only the replica
 * that holds the lease in the session's record calls the issuer. The others wait for the updated record.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { DashboardMetrics } from "../metrics.ts";
import { answerSeconds } from "./discovery.ts";
import { type Issuer, SessionEndedError, type Tokens } from "./issuer.ts";
import { type OpenSession, type Session, type Sessions, sessionOf } from "./sessions.ts";
import { UnavailableError } from "./unavailable.ts";

interface RefreshContext {
  readonly issuer: Pick<Issuer, "refresh" | "revoke">;
  readonly sessions: Sessions;
  readonly metrics: Pick<DashboardMetrics, "refreshes">;
  readonly log: Logger;
}

/** A token that expires sooner is refreshed first: a request may be in flight for this long. Milliseconds. */
export const marginMillis = 10_000;

/**
 * How long a lease is valid. Covers the two requests to the issuer (configuration and tokens) and one more timeout for clock skew.
 * A replica that crashes with a lease blocks the others for this long. Milliseconds.
 */
const leaseMillis = 3 * answerSeconds * 1000;
/** Poll interval while another replica refreshes. Milliseconds. */
const pollMillis = 100;

/**
 * Returns the session with a token that is valid for a while. Throws an {@link SessionEndedError} if the session cannot be continued, and an
 * {@link UnavailableError} if the issuer or the bus is unavailable.
 */
export type RefreshSession = (open: OpenSession) => Promise<OpenSession>;

/** Creates the function that refreshes sessions. */
export function refresher(context: RefreshContext): RefreshSession {
  /** At most one refresh per session in this process; the lease coordinates replicas. */
  const inFlight = new Map<string, Promise<OpenSession>>();
  return async (open) => {
    if (isValid(open.session)) {
      await context.sessions.touch(open);
      return open;
    }
    const known = inFlight.get(open.id);
    if (known) return known;
    const refreshing = refresh(context, open).finally(() => inFlight.delete(open.id));
    inFlight.set(open.id, refreshing);
    return refreshing;
  };
}

const isValid = ({ expiresAt }: Session): boolean => expiresAt - Date.now() > marginMillis;

async function refresh(
  context: RefreshContext,
  { id, session: { idToken } }: OpenSession,
): Promise<OpenSession> {
  const { sessions } = context;
  const holder = randomBytes(12).toString("base64url");
  let waitingSince: number | undefined;
  for (;;) {
    const open = await sessions.find(id);
    if (open === undefined) throw new SessionEndedError("the session has been ended");
    const { session } = open;
    if (isValid(session) || session.idToken !== idToken) return open;
    if (session.refreshToken === undefined) throw new SessionEndedError("the session has no refresh token");
    const { lease } = session;
    // Our own write, whose acknowledgement was lost.
    if (lease?.holder === holder) return renew(context, open, session.refreshToken);
    if (lease !== undefined && !hasExpired(lease, waitingSince)) {
      waitingSince ??= performance.now();
      await sleep(pollMillis);
      continue;
    }
    if (lease === undefined && waitingSince !== undefined)
      throw new UnavailableError(
        "issuer",
        "Another replica could not refresh your session. Try again in a moment.",
      );
    const leased = await sessions.update(open, {
      ...session,
      lease: { holder, endsAt: Date.now() + leaseMillis },
    });
    if (leased !== "overtaken") return renew(context, leased, session.refreshToken);
  }
}

/** Waiting is bounded, because a wrong clock on another replica could make a lease last for hours. */
const hasExpired = ({ endsAt }: NonNullable<Session["lease"]>, waitingSince: number | undefined): boolean =>
  endsAt < Date.now() || (waitingSince !== undefined && performance.now() - waitingSince > leaseMillis);

/** Calls the issuer, with the lease in `open`, and stores the new tokens. */
async function renew(context: RefreshContext, open: OpenSession, refreshToken: string): Promise<OpenSession> {
  const { issuer, sessions, metrics, log } = context;
  const { lease: _, ...session } = open.session;
  let tokens: Tokens;
  try {
    tokens = await issuer.refresh(refreshToken);
  } catch (error) {
    if (error instanceof SessionEndedError) return endSession(context, open, error);
    metrics.refreshes.inc({ outcome: "unavailable" });
    log.warn({ err: error, user: session.user }, "session not refreshed");
    // Release the lease, so that other replicas need not wait until it expires.
    await sessions.update(open, session);
    throw error;
  }
  if (tokens.user !== session.user) {
    await revokeToken(context, tokens.refreshToken);
    return endSession(context, open, new SessionEndedError("the issuer returned a token of another user"));
  }
  // The tokens exist only here, so this write waits for the bus.
  const written = await sessions.update(open, { ...session, ...sessionOf(tokens) }, "endless");
  metrics.refreshes.inc({ outcome: "refreshed" });
  if (written !== "overtaken") return written;
  const found = await sessions.find(open.id);
  if (found?.session.idToken === tokens.idToken) return found;
  // Another request ended or replaced the session, so revoke the tokens.
  await revokeToken(context, tokens.refreshToken);
  if (found !== undefined) return found;
  throw new SessionEndedError("the session has been ended");
}

async function endSession(
  { sessions, metrics, log }: RefreshContext,
  { id, session }: OpenSession,
  error: SessionEndedError,
): Promise<OpenSession> {
  const found = await sessions.find(id);
  // This replica was paused, and another one has taken the lease and refreshed.
  if (found && isValid(found.session)) return found;
  await sessions.end(id);
  metrics.refreshes.inc({ outcome: "ended" });
  log.info({ err: error, user: session.user }, "session ended");
  throw error;
}

/** Revokes a refresh token. Logs a failure and continues. */
export async function revokeToken(
  { issuer, log }: RefreshContext,
  refreshToken: string | undefined,
): Promise<void> {
  if (refreshToken === undefined) return;
  await issuer.revoke(refreshToken).catch((error: unknown) => {
    log.warn({ err: error }, "refresh token not revoked");
  });
}
