/** The clock of the bus in a process, and how far this machine's own is off. */
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { type BusClock, type BusClockOptions, startBusClock } from "../nats/busclock.ts";

/** Where the time comes from, and where it is reported. */
export interface ProcessClockOptions extends Omit<BusClockOptions, "onError" | "everyMillis"> {
  readonly log: Pick<Logger, "warn">;
  readonly registry: Registry;
}

/** Starts the clock of the bus, and exports its offset. Rejects when it cannot be read. */
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

/** Registers how far this machine's clock is behind that of the bus. Parts that share a process share the metric. */
export function registerClock(registry: Registry, clock: BusClock): void {
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help: "How far the clock of the NATS servers is ahead of this machine's, in seconds; negative when it is behind.",
    registers: [registry],
    collect() {
      this.set(clock.offsetMillis() / 1000);
    },
  });
}
