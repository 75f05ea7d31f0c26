/** Requests to the server, sent once or polled. */
import { useEffect, useState } from "preact/hooks";
import { RequestError, request } from "./session.ts";

/** The state of a request. */
export interface Answer<T> {
  /** `refused`: retrying does not help. `away`: retrying may help, and the last value is kept. */
  readonly state: "loading" | "there" | "refused" | "away";
  readonly value?: T | undefined;
  readonly trouble?: { readonly status: number; readonly message: string } | undefined;
  /** Sends the request again now. */
  readonly ask: () => void;
}

type Known<T> = Omit<Answer<T>, "ask">;

const loading = { state: "loading" } as const;

/**
 * Requests `path` while the component is mounted: once, or `everyMillis` after each response while the page is visible. Without a
 * path it sends nothing.
 */
export function useAnswer<T>(path: string | undefined, everyMillis?: number): Answer<T> {
  const [known, setKnown] = useState<{ path: string; of: Known<T> }>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    const over = new AbortController();
    const know = (next: (before: Known<T>) => Known<T>) =>
      setKnown((before) => ({ path, of: next(before?.path === path ? before.of : loading) }));
    let timer = 0;
    let isDue = false;

    async function ask(asked: string): Promise<void> {
      isDue = false;
      try {
        const value = await request<T>(asked, { signal: over.signal });
        know(() => ({ state: "there", value }));
      } catch (error) {
        if (over.signal.aborted) return;
        know(({ value }) => troubled(error, value));
      }
      if (everyMillis !== undefined && !over.signal.aborted) timer = setTimeout(due, everyMillis);
    }
    function due(): void {
      isDue = document.hidden;
      if (!isDue) void ask(path as string);
    }
    const seen = () => {
      if (isDue && !document.hidden) void ask(path);
    };

    document.addEventListener("visibilitychange", seen);
    void ask(path);
    return () => {
      over.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [path, everyMillis, turn]);
  const of = known !== undefined && known.path === path ? known.of : loading;
  return { ...of, ask: () => setTurn((before) => before + 1) };
}

function troubled<T>(error: unknown, value: T | undefined): Known<T> {
  if (!(error instanceof RequestError)) throw error;
  const { status, message } = error;
  const isFinal = status >= 400 && status < 500 && status !== 401 && status !== 429;
  // After a loss of permission, drop the previous value.
  return {
    state: isFinal ? "refused" : "away",
    value: isFinal ? undefined : value,
    trouble: { status, message },
  };
}
