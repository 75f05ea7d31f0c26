/** Requests to the server, sent once or polled. */
import { useEffect, useState } from "preact/hooks";
import type { ShownError } from "./message.ts";
import { RequestError, request } from "./session.ts";

/** The state of a request. */
export interface Query<T> {
  /** `refused`: retrying does not help. `away`: retrying may help, and the last value is kept. */
  readonly state: "loading" | "done" | "refused" | "away";
  readonly value?: T | undefined;
  /** When the value was current, in milliseconds since 1970. */
  readonly asOf?: number | undefined;
  readonly error?: ShownError | undefined;
  /** Sends the request again now. */
  readonly reload: () => void;
}

type Result<T> = Omit<Query<T>, "reload">;

const loading = { state: "loading" } as const;

/** Poll interval for data that changes constantly. */
export const fastPollMillis = 2000;
/** Poll interval for data that changes rarely. */
export const slowPollMillis = 5000;

/**
 * Requests `path` while the component is mounted: once, or `everyMillis` after each response while the page is visible. Without a
 * path it sends nothing.
 */
export function useQuery<T>(path: string | undefined, everyMillis?: number): Query<T> {
  const [stored, setStored] = useState<{ path: string; result: Result<T> }>();
  const [reloads, setReloads] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    const abort = new AbortController();
    const update = (next: (before: Result<T>) => Result<T>) =>
      setStored((before) => ({ path, result: next(before?.path === path ? before.result : loading) }));
    let timer = 0;
    let isDue = false;

    async function send(to: string): Promise<void> {
      isDue = false;
      try {
        const value = await request<T>(to, { signal: abort.signal });
        update(() => ({ state: "done", value, asOf: Date.now() }));
      } catch (error) {
        if (abort.signal.aborted) return;
        update((before) => failed(error, before));
      }
      if (everyMillis !== undefined && !abort.signal.aborted) timer = setTimeout(poll, everyMillis);
    }
    function poll(): void {
      isDue = document.hidden;
      if (!isDue) void send(path as string);
    }
    const onVisible = () => {
      if (isDue && !document.hidden) void send(path);
    };

    document.addEventListener("visibilitychange", onVisible);
    void send(path);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [path, everyMillis, reloads]);
  const result = stored !== undefined && stored.path === path ? stored.result : loading;
  return { ...result, reload: () => setReloads((before) => before + 1) };
}

function failed<T>(error: unknown, { value, asOf }: Result<T>): Result<T> {
  if (!(error instanceof RequestError)) throw error;
  const { status } = error;
  const isFinal = status >= 400 && status < 500 && status !== 401 && status !== 429;
  // After a loss of permission, drop the previous value.
  return isFinal ? { state: "refused", error } : { state: "away", value, asOf, error };
}
