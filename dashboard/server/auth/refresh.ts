/** Keeping a session's token valid. */
import type { Parts } from "../env.ts";
import { EndedError } from "./issuer.ts";
import { type OpenSession, sessionOf } from "./sessions.ts";

/** A token that ends sooner is not sent any more: a request may be on its way for so long. Milliseconds. */
const marginMillis = 10_000;

/** One refresh for each session at a time: an issuer may take a refresh token once. */
const underWay = new Map<string, Promise<OpenSession>>();

/** The session with a token that is valid for a while. Throws an {@link EndedError} when there is none to be had. */
export async function fresh(
  parts: Pick<Parts, "issuer" | "sessions">,
  open: OpenSession,
): Promise<OpenSession> {
  if (open.session.expiresAt - Date.now() > marginMillis) return open;
  const running = underWay.get(open.id);
  if (running) return running;
  const refreshing = refresh(parts, open).finally(() => underWay.delete(open.id));
  underWay.set(open.id, refreshing);
  return refreshing;
}

async function refresh(
  { issuer, sessions }: Pick<Parts, "issuer" | "sessions">,
  open: OpenSession,
): Promise<OpenSession> {
  const { refreshToken, csrf, github } = open.session;
  if (refreshToken === undefined) throw new EndedError("expected a refresh token, found none");
  const session = { ...sessionOf(await issuer.refresh(refreshToken)), csrf, ...(github && { github }) };
  await sessions.update(open, session);
  return (await sessions.find(open.id)) ?? { ...open, session };
}
