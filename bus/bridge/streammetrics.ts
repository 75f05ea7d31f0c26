/** How full the streams with a limit are. Full ones lose what is oldest, or refuse what is new. */
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import type { Bus } from "../nats/connect.ts";
import { activityStream, streams, timersStream, workStream } from "../subjects.ts";
import type { Interest } from "../topology.ts";

/** Where the streams are. */
export interface StreamMetricsOptions {
  readonly bus: Pick<Bus, "jsm">;
  readonly interests: readonly Interest[];
  readonly log: Pick<Logger, "debug">;
  readonly registry: Registry;
}

/** Registers the gauge, which asks the bus at each scrape. Streams that the bus does not describe are absent. */
export function registerStreamMetrics({ bus, interests, log, registry }: StreamMetricsOptions): void {
  const own = interests.flatMap(({ scope: { fn } }) => [
    workStream(fn),
    timersStream(fn),
    activityStream(fn),
  ]);
  const names = [...Object.values(streams), ...new Set(own)];
  new Gauge({
    name: "denrei_stream_used_ratio",
    help: "Share of its size limit (max_bytes) that a stream has taken; absent for streams without a limit.",
    labelNames: ["stream"] as const,
    registers: [registry],
    async collect() {
      const asked = await Promise.allSettled(names.map((name) => bus.jsm.streams.info(name)));
      this.reset();
      for (const answer of asked) {
        if (answer.status === "rejected") log.debug({ err: answer.reason }, "size of a stream not read");
        else if (answer.value.config.max_bytes > 0) {
          const { config, state } = answer.value;
          this.set({ stream: config.name }, state.bytes / config.max_bytes);
        }
      }
    },
  });
}
