/** Live figures of the bus, one sample per second. */
import { useEffect, useState } from "preact/hooks";
import type { LivePast, LiveSample } from "../../../../api/bus.ts";
import { openStream } from "../../api/stream.ts";
import { withSample } from "./series.ts";

/** The samples of the last 15 minutes. */
export interface Live {
  readonly state: "loading" | "live" | "away";
  /** Oldest first. */
  readonly samples: readonly LiveSample[];
  /** The period that percentiles cover. */
  readonly windowSeconds: number;
}

const nothing: Live = { state: "loading", samples: [], windowSeconds: 0 };

/** Follows the bus while the component is mounted. The server refuses users without access to figures. */
export function useLive(): Live {
  const [live, setLive] = useState(nothing);
  useEffect(
    () =>
      openStream({
        address: () => "/api/bus/live",
        on: {
          past: ({ samples, windowSeconds }: LivePast) => setLive({ state: "live", samples, windowSeconds }),
          sample: (sample: LiveSample) =>
            setLive((before) => ({ ...before, samples: withSample(before.samples, sample) })),
        },
        // The server sends the past again.
        opened: () => undefined,
        broken: () => setLive((before) => ({ ...before, state: "away" })),
      }),
    [],
  );
  return live;
}
