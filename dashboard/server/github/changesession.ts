/** Changes of the session, which other requests may write at the same time. */
import type { OpenSession, Session, WriteRetry } from "../auth/sessions.ts";
import type { Parts } from "../env.ts";

const attempts = 5;

/**
 * Applies `change` to the current version of the session, again after each concurrent write. Stops without a write if it returns
 * undefined. Throws if the session has ended, and after several concurrent writes.
 */
export async function changeSession(
  { sessions }: Pick<Parts, "sessions">,
  open: OpenSession,
  change: (session: Session) => Session | undefined,
  retry?: WriteRetry,
): Promise<"changed" | "unchanged"> {
  let current: OpenSession | undefined = open;
  for (let attempt = 0; attempt < attempts && current !== undefined; attempt++) {
    const next = change(current.session);
    if (next === undefined) return "unchanged";
    if ((await sessions.update(current, next, retry)) !== "overtaken") return "changed";
    current = await sessions.find(open.id);
  }
  throw new Error("could not write the session: it has ended, or other requests keep writing it");
}
