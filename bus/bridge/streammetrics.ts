/** Fill levels of the streams with a limit. Full streams drop their oldest messages or reject new ones. */
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import type { Bus } from "../nats/connect.ts";
import { activityStream, streams, timersStream, workStream } from "../subjects.ts";
import type { FunctionSubscription } from "../topology.ts";

/** Options of {@link registerStreamMetrics}. */
export interface StreamMetricsOptions {
  readonly bus: Pick<Bus, "jsm">;
  readonly subscriptions: readonly FunctionSubscription[];
  readonly log: Pick<Logger, "debug">;
  readonly registry: Registry;
}

/** Registers the gauge, which queries the bus at each scrape. It omits streams that the bus does not describe. */
export function registerStreamMetrics({ bus, subscriptions, log, registry }: StreamMetricsOptions): void {
  const own = subscriptions.flatMap(({ scope: { fn } }) => [
    workStream(fn),
    timersStream(fn),
    activityStream(fn),
  ]);
  const names = [...Object.values(streams), ...new Set(own)];
  new Gauge({
    name: "denrei_stream_used_ratio",
    help: "Share of its size limit (max_bytes) that a stream uses. Absent for streams without a limit.",
    labelNames: ["stream"] as const,
    registers: [registry],
    async collect() {
      const answers = await Promise.allSettled(names.map((name) => bus.jsm.streams.info(name)));
      this.reset();
      for (const answer of answers) {
        if (answer.status === "rejected") log.debug({ err: answer.reason }, "failed to read stream size");
        else if (answer.value.config.max_bytes > 0) {
          const { config, state } = answer.value;
          this.set({ stream: config.name }, state.bytes / config.max_bytes);
        }
      }
    },
  });
}
