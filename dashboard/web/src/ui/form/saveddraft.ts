/**
 * Unsaved input survives a login or the connection of an account: it is stored when the page is left and restored once, to the same
 * form and the same user.
 * https://html.spec.whatwg.org/multipage/webstorage.html#the-sessionstorage-attribute
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../../api/session.ts";
import { notify } from "../notices.tsx";

const storedAs = "denrei.form";

interface SavedDraft {
  readonly user: string;
  /** Path of the form's screen. */
  readonly at: string;
  /** Version of the object that was edited. */
  readonly base: string;
  readonly draft: unknown;
}

const user = (): string => (typeof session.value === "object" ? session.value.user : "");

function takeSaved(): SavedDraft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storedAs) ?? "null") as SavedDraft | null;
    if (kept === null || (kept.user === user() && kept.at !== location.pathname)) return undefined;
    sessionStorage.removeItem(storedAs);
    return kept.user === user() ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** The draft of a form and its setter. A stored draft with another `base` is discarded, because it would undo another user's change. */
export function useSavedDraft(initial: unknown, base: string): [unknown, (draft: unknown) => void] {
  const [kept] = useState(takeSaved);
  const back = kept?.base === base ? kept.draft : undefined;
  const [draft, setDraft] = useState(back ?? initial);
  const typed = useRef(back);
  useEffect(() => {
    if (back !== undefined) notify("good", "Your unsaved input was restored.");
    else if (kept) notify("bad", "The object changed in the meantime. Your unsaved input was discarded.");
    const of = { user: user(), at: location.pathname, base };
    const keep = () => {
      // A logout leaves nothing behind.
      if (typed.current === undefined || session.value === "none") return;
      sessionStorage.setItem(storedAs, JSON.stringify({ ...of, draft: typed.current } satisfies SavedDraft));
    };
    // A page from the browser's back/forward cache still has its input.
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
