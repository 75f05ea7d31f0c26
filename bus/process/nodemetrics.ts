/** Metrics of Node.js and of the process: those of prom-client, with another measurement of the event loop. */
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { beatMillis, onBeat } from "../values/eventloop.ts";

/**
 * The interval of prom-client's own measurement, in milliseconds: longer than a process runs. Its default of 10 wakes up an idle process
 * a hundred times a second, which costs more than everything else that it does.
 */
const neverMillis = 2 ** 31 - 1;

/** The gauges, and how each is read from a histogram of nanoseconds. */
const lags: Readonly<
  Record<string, readonly [statistic: string, read: (lag: RecordableHistogram) => number]>
> = {
  min: ["Minimum", ({ min }) => min],
  max: ["Maximum", ({ max }) => max],
  mean: ["Mean", ({ mean }) => mean],
  stddev: ["Standard deviation", ({ stddev }) => stddev],
  p50: ["50th percentile", (lag) => lag.percentile(50)],
  p90: ["90th percentile", (lag) => lag.percentile(90)],
  p99: ["99th percentile", (lag) => lag.percentile(99)],
};

/** Registers the metrics, and measures how late each beat of the process is. */
export function registerNodeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMillis });
  const lag = measureLag();
  const names = Object.entries(lags);
  for (const [at, [name, [statistic, read]]] of names.entries()) {
    const metric = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(metric);
    new Gauge({
      name: metric,
      help: `${statistic} of the delays of a timer of ${beatMillis} ms since the last scrape.`,
      registers: [registry],
      collect() {
        // Without a measurement since the last scrape, its value stays.
        if (lag.count > 0) this.set(read(lag) / 1e9);
        // Gauges are read in the order of their registration.
        if (at === names.length - 1) lag.reset();
      },
    });
  }
}

function measureLag(): RecordableHistogram {
  const lag = createHistogram();
  let last = performance.now();
  onBeat(() => {
    const now = performance.now();
    lag.record(Math.max(1, Math.round((now - last - beatMillis) * 1e6)));
    last = now;
  });
  return lag;
}
