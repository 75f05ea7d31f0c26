/**
 * Unsaved input, by the address of its form. It survives reloads, logins, and navigation in the same tab, and is forgotten when the
 * form is sent, when the user discards it, and at logout.
 * https://html.spec.whatwg.org/multipage/webstorage.html#the-sessionstorage-attribute
 */
import { session } from "../../api/session.ts";

const storedAs = "denrei.drafts";
/** More forms than a user leaves unfinished. */
const maxDrafts = 20;

/** The version of an object that a draft changes. */
export interface BaseVersion {
  readonly uid: string;
  readonly generation: number;
  readonly spec: unknown;
}

/** Unsaved input. */
export interface SavedDraft {
  readonly draft: unknown;
  /** Undefined for new objects. */
  readonly base?: BaseVersion | undefined;
}

/** By address, the last changed last. */
type Drafts = Readonly<Record<string, SavedDraft>>;

function drafts(): Drafts {
  try {
    return (JSON.parse(sessionStorage.getItem(storedAs) ?? "null") ?? {}) as Drafts;
  } catch {
    // Not written by this version.
    return {};
  }
}

function store(changed: Drafts): void {
  const kept = Object.entries(changed).slice(-maxDrafts);
  if (kept.length === 0) sessionStorage.removeItem(storedAs);
  else sessionStorage.setItem(storedAs, JSON.stringify(Object.fromEntries(kept)));
}

const here = (): string => location.pathname;

/** The unsaved input of the form at the current address. */
export const savedDraft = (): SavedDraft | undefined => drafts()[here()];

/** Stores the input of the form at an address. A logout leaves nothing behind. */
export function saveDraft(saved: SavedDraft, address: string = here()): void {
  if (session.value === "none") return;
  const { [address]: _, ...others } = drafts();
  store({ ...others, [address]: saved });
}

/** Forgets the input of the form at an address. */
export function forgetDraft(address: string = here()): void {
  const { [address]: _, ...others } = drafts();
  store(others);
}
