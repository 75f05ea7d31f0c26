/** The bus as it is now, second by second. */
import { useEffect, useState } from "preact/hooks";
import type { LivePast, LiveSample } from "../../../../api/bus.ts";
import { openStream } from "../../api/stream.ts";
import { withSample } from "./series.ts";

/** What is known of the last 15 minutes. */
export interface Live {
  readonly state: "loading" | "live" | "away";
  /** The oldest first. */
  readonly samples: readonly LiveSample[];
  /** Percentiles are of so many seconds. */
  readonly windowSeconds: number;
}

const nothing: Live = { state: "loading", samples: [], windowSeconds: 0 };

/** Follows the bus for as long as the component is there. Whoever may not see figures is refused. */
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
        // What was before is told anew.
        opened: () => undefined,
        broken: () => setLive((before) => ({ ...before, state: "away" })),
      }),
    [],
  );
  return live;
}
