/** The clock of the bus in a process, and its offset from this machine's clock. */
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { type BusClock, type BusClockOptions, startBusClock } from "../nats/busclock.ts";

/** Options of {@link startProcessClock}. */
export interface ProcessClockOptions extends Omit<BusClockOptions, "onError" | "everyMillis"> {
  readonly log: Pick<Logger, "warn">;
  readonly registry: Registry;
}

/** Starts the clock of the bus and exports its offset. Rejects if the clock cannot be read. */
export async function startProcessClock({
  log,
  registry,
  ...options
}: ProcessClockOptions): Promise<BusClock> {
  const clock = await startBusClock({
    ...options,
    onError: (error) => log.warn({ err: error }, "failed to read the clock of the bus, retrying"),
  });
  registerClock(registry, clock);
  return clock;
}

const name = "denrei_clock_offset_seconds";

/** Registers the offset of the bus's clock from this machine's. Parts that share a process share the metric. */
export function registerClock(registry: Registry, clock: BusClock): void {
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help: "Offset of the NATS servers' clock from this machine's, in seconds; negative if the servers are behind.",
    registers: [registry],
    collect() {
      this.set(clock.offsetMillis() / 1000);
    },
  });
}
