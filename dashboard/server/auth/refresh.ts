/**
 * Keeping a session's token valid. An issuer that rotates refresh tokens takes each once, and takes a second use for theft, so one
 * replica asks at a time: whoever has written the lease into the session's record. The others wait for the record that follows.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { DashboardMetrics } from "../metrics.ts";
import { AwayError } from "./away.ts";
import { answerSeconds } from "./discovery.ts";
import { EndedError, type Issuer, type Tokens } from "./issuer.ts";
import { type OpenSession, type Session, type Sessions, sessionOf } from "./sessions.ts";

interface Ground {
  readonly issuer: Pick<Issuer, "refresh" | "revoke">;
  readonly sessions: Sessions;
  readonly metrics: Pick<DashboardMetrics, "refreshes">;
  readonly log: Logger;
}

/** A token that ends sooner is not sent any more: a request may be on its way for so long. Milliseconds. */
export const marginMillis = 10_000;

/**
 * Whoever has died with a lease keeps the others waiting for so long: what the issuer takes for its configuration and its answer
 * at most, and as much again as one of them, lest clocks that are a little wrong let two ask. Milliseconds.
 */
const leaseMillis = 3 * answerSeconds * 1000;
/** Between two looks at the record of another's refresh. Milliseconds. */
const lookMillis = 100;

/**
 * The session with a token that is valid for a while. Throws an {@link EndedError} when there is none to be had, and an
 * {@link AwayError} when there is none to be had now.
 */
export type Fresh = (open: OpenSession) => Promise<OpenSession>;

/** Keeps the tokens of these sessions valid. */
export function refresher(ground: Ground): Fresh {
  /** One refresh for each session at a time in this process, before the replicas agree on one. */
  const underWay = new Map<string, Promise<OpenSession>>();
  return async (open) => {
    if (isValid(open.session)) {
      await ground.sessions.touch(open);
      return open;
    }
    const known = underWay.get(open.id);
    if (known) return known;
    const refreshing = refresh(ground, open).finally(() => underWay.delete(open.id));
    underWay.set(open.id, refreshing);
    return refreshing;
  };
}

const isValid = ({ expiresAt }: Session): boolean => expiresAt - Date.now() > marginMillis;

async function refresh(ground: Ground, { id, session: { idToken } }: OpenSession): Promise<OpenSession> {
  const { sessions } = ground;
  const holder = randomBytes(12).toString("base64url");
  let waitingSince: number | undefined;
  for (;;) {
    const open = await sessions.find(id);
    if (open === undefined) throw new EndedError("expected a session, found that it has been ended");
    const { session } = open;
    if (isValid(session) || session.idToken !== idToken) return open;
    if (session.refreshToken === undefined) throw new EndedError("expected a refresh token, found none");
    const { lease } = session;
    // Written by us: the answer to that was lost on its way.
    if (lease?.holder === holder) return renew(ground, open, session.refreshToken);
    if (lease !== undefined && !isOver(lease, waitingSince)) {
      waitingSince ??= performance.now();
      await sleep(lookMillis);
      continue;
    }
    if (lease === undefined && waitingSince !== undefined)
      throw new AwayError(
        "issuer",
        "expected new tokens of the issuer, but another replica has asked in vain.",
      );
    const leased = await sessions.update(open, {
      ...session,
      lease: { holder, endsAt: Date.now() + leaseMillis },
    });
    if (leased !== "overtaken") return renew(ground, leased, session.refreshToken);
  }
}

/** By a clock that is wrong a lease might last for hours. */
const isOver = ({ endsAt }: NonNullable<Session["lease"]>, waitingSince: number | undefined): boolean =>
  endsAt < Date.now() || (waitingSince !== undefined && performance.now() - waitingSince > leaseMillis);

/** Asks the issuer, with the lease in `open`, and writes what it gives. */
async function renew(ground: Ground, open: OpenSession, refreshToken: string): Promise<OpenSession> {
  const { issuer, sessions, metrics, log } = ground;
  const { lease: _, ...session } = open.session;
  let tokens: Tokens;
  try {
    tokens = await issuer.refresh(refreshToken);
  } catch (error) {
    if (error instanceof EndedError) return ended(ground, open, error);
    metrics.refreshes.inc({ outcome: "away" });
    log.warn({ err: error, user: session.user }, "session not refreshed");
    // Nobody need wait for the lease to end.
    await sessions.update(open, session);
    throw error;
  }
  if (tokens.user !== session.user) {
    await revoked(ground, tokens.refreshToken);
    return ended(ground, open, new EndedError("expected a token of the same user, found one of another"));
  }
  // They are nowhere else: a bus that is away is waited for.
  const written = await sessions.update(open, { ...session, ...sessionOf(tokens) }, "endless");
  metrics.refreshes.inc({ outcome: "refreshed" });
  if (written !== "overtaken") return written;
  const found = await sessions.find(open.id);
  if (found?.session.idToken === tokens.idToken) return found;
  // Logged out meanwhile: what was given since then is nobody's.
  await revoked(ground, tokens.refreshToken);
  if (found !== undefined) return found;
  throw new EndedError("expected a session, found that it has been ended");
}

async function ended(
  { sessions, metrics, log }: Ground,
  { id, session }: OpenSession,
  error: EndedError,
): Promise<OpenSession> {
  const found = await sessions.find(id);
  // Somebody else has taken the lease of a replica that had stopped for a while.
  if (found && isValid(found.session)) return found;
  await sessions.end(id);
  metrics.refreshes.inc({ outcome: "ended" });
  log.info({ err: error, user: session.user }, "session ended");
  throw error;
}

/** Has the issuer take it no more; one that is away can not be helped. */
export async function revoked({ issuer, log }: Ground, refreshToken: string | undefined): Promise<void> {
  if (refreshToken === undefined) return;
  await issuer.revoke(refreshToken).catch((error: unknown) => {
    log.warn({ err: error }, "refresh token not revoked");
  });
}
