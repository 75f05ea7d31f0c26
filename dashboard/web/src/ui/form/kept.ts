/**
 * What is typed outlives the way to where people log in, or connect an account, and back: it is kept in this window when the
 * page is left, and given once to the same form and the same person.
 * https://html.spec.whatwg.org/multipage/webstorage.html#the-sessionstorage-attribute
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../../api/session.ts";
import { notify } from "../notices.tsx";

const storedAs = "denrei.form";

interface Kept {
  readonly user: string;
  /** Path of the screen. */
  readonly at: string;
  /** What it is a change of. */
  readonly base: string;
  readonly draft: unknown;
}

const user = (): string => (typeof session.value === "object" ? session.value.user : "");

/** What was kept for this form. */
function takeBack(): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storedAs) ?? "null") as Kept | null;
    if (kept === null || (kept.user === user() && kept.at !== location.pathname)) return undefined;
    sessionStorage.removeItem(storedAs);
    return kept.user === user() ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A draft, and how to exchange it. `base` tells what it is a change of: what was typed over something older is not given
 * back, because it would undo what somebody else has done since.
 */
export function useKeptDraft(initial: unknown, base: string): [unknown, (draft: unknown) => void] {
  const [kept] = useState(takeBack);
  const back = kept?.base === base ? kept.draft : undefined;
  const [draft, setDraft] = useState(back ?? initial);
  const typed = useRef(back);
  useEffect(() => {
    if (back !== undefined) notify("good", "What you had typed is here again.");
    else if (kept) notify("bad", "It was changed meanwhile: what you had typed is not here any more.");
    const of = { user: user(), at: location.pathname, base };
    const keep = () => {
      // Whoever logs out leaves nothing behind.
      if (typed.current === undefined || session.value === "none") return;
      sessionStorage.setItem(storedAs, JSON.stringify({ ...of, draft: typed.current } satisfies Kept));
    };
    // Whoever goes back to a page that the browser has kept as it was needs nothing else.
    const forget = ({ persisted }: PageTransitionEvent) => persisted && sessionStorage.removeItem(storedAs);
    addEventListener("pagehide", keep);
    addEventListener("pageshow", forget);
    return () => {
      removeEventListener("pagehide", keep);
      removeEventListener("pageshow", forget);
    };
  }, []);
  const set = (next: unknown) => {
    typed.current = next;
    setDraft(next);
  };
  return [draft, set];
}
