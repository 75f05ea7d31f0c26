/**
 * Whether the API server responds. An open watch does not show this: it is silent while nothing changes, and while the API server
 * hangs.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer } from "./apiserver.ts";

/** Pause between probes, and the time after which a probe fails. Milliseconds. */
const probeMillis = 5000;

/** Probes the API server while there are listeners. */
export interface Liveness {
  /** Calls `onChange` whenever the API server stops or resumes responding, until the returned function is called. */
  follow(onChange: (state: "responds" | "hangs") => void): () => void;
}

/** One prober for all streams of a replica. */
export function apiServerLiveness(apiServer: Pick<ApiServer, "probe">): Liveness {
  const listeners = new Set<(state: "responds" | "hangs") => void>();
  let state: "responds" | "hangs" = "responds";
  let stopping: AbortController | undefined;

  async function probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await apiServer.probe(probeMillis).then(
        () => "responds" as const,
        () => "hangs" as const,
      );
      if (signal.aborted) return;
      if (found !== state) {
        state = found;
        for (const listener of listeners) listener(state);
      }
      await sleep(probeMillis, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    follow(onChange) {
      listeners.add(onChange);
      if (stopping === undefined) {
        stopping = new AbortController();
        void probe(stopping.signal);
      } else if (state === "hangs") onChange(state);
      return () => {
        listeners.delete(onChange);
        if (listeners.size > 0) return;
        stopping?.abort();
        stopping = undefined;
        state = "responds";
      };
    },
  };
}
