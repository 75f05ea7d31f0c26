/** Queues and latencies of functions. */
import { useMemo } from "preact/hooks";
import type { FunctionFigures, FunctionSample, LiveSample } from "../../../../api/bus.ts";
import { deadLettersAddress, functionAddress } from "../addresses.ts";
import { Chart } from "../live/chart.tsx";
import { nowSeconds } from "../live/events.tsx";
import type { Live } from "../live/live.ts";
import { extent, functionSeries, type Pick, recent } from "../live/series.ts";
import { count, duration, rate } from "../numbers.ts";

const stepSeconds = 15;

/** The queues, in the order in which objects pass through them. */
const queues = [
  ["events", "Unseen", "Events, webhooks, and due requests that no worker has routed yet"],
  ["pending", "Pending", "Objects waiting for a free worker"],
  ["inFlight", "In flight", "Objects being reconciled"],
  ["parked", "Parked", "Objects that changed during their reconcile"],
  ["delayed", "Delayed", "Objects waiting for a timer"],
  ["retrying", "Retrying", "Delayed objects that failed and will be retried"],
] as const;

/** A table with a row per function. */
export function Functions({ functions, live }: { functions: readonly FunctionFigures[]; live: Live }) {
  return (
    <section class="card" aria-labelledby="functions">
      <header>
        <h2 id="functions">Functions</h2>
        <span class="quiet small">
          Percentiles cover the last {live.windowSeconds > 0 ? `${live.windowSeconds} s` : "seconds"}, charts
          the last 15 minutes
        </span>
      </header>
      <div class="table dense">
        <table>
          <thead>
            <tr>
              <th scope="col">Function</th>
              {queues.map(([field, name, title]) => (
                <th key={field} scope="col" class="number" title={title}>
                  {name}
                </th>
              ))}
              <th scope="col" class="number" title="Requests that the function gave up">
                Dead letters
              </th>
              <th scope="col">Reconciles per second</th>
              <th scope="col" title="From the event to the start of the reconcile">
                Event to start, p50 / p99
              </th>
              <th scope="col" title="From the start of the reconcile to its end">
                Reconcile, p50 / p99
              </th>
            </tr>
          </thead>
          <tbody>
            {functions.map((figures) => (
              <Row key={figures.function} figures={figures} samples={live.samples} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ figures, samples }: { figures: FunctionFigures; samples: readonly LiveSample[] }) {
  const { function: fn, deadLetters } = figures;
  const latest = samples.at(-1)?.functions[fn];
  const reconciles = (sample: LiveSample) => sample.functions[fn]?.reconciles ?? 0;
  return (
    <tr>
      <th scope="row" data-label="Function">
        <a href={functionAddress(fn)}>{fn}</a>
      </th>
      {queues.map(([field, name]) => (
        <td key={field} class={figures[field] ? "number" : "number zero"} data-label={name}>
          {count(figures[field])}
        </td>
      ))}
      <td class={deadLetters ? "number" : "number zero"} data-label="Dead letters">
        {deadLetters ? (
          <a class="bad-text" href={deadLettersAddress(fn)}>
            {count(deadLetters)}
          </a>
        ) : (
          count(deadLetters)
        )}
      </td>
      <td data-label="Reconciles per second">
        <Trend {...{ fn, samples }} of="Reconciles per second" pick={counting} absent={0} format={rate}>
          {rate(recent(samples, nowSeconds, reconciles))}
        </Trend>
      </td>
      <td data-label="Event to start, p50 / p99">
        <Trend
          {...{ fn, samples }}
          of="Time from event to start"
          pick={waiting}
          absent={null}
          format={duration}
        >
          {spreadText(latest?.waited)}
        </Trend>
      </td>
      <td data-label="Reconcile, p50 / p99">
        <Trend {...{ fn, samples }} of="Time of a reconcile" pick={working} absent={null} format={duration}>
          {spreadText(latest?.took)}
        </Trend>
      </td>
    </tr>
  );
}

const counting: Pick = { reconciles: ({ reconciles }) => reconciles };
const waiting: Pick = { p50: ({ waited }) => waited.p50, p99: ({ waited }) => waited.p99 };
const working: Pick = { p50: ({ took }) => took.p50, p99: ({ took }) => took.p99 };

const spreadText = (spread: FunctionSample["took"] | undefined): string =>
  spread === undefined ? "no data" : `${duration(spread.p50)} / ${duration(spread.p99)}`;

/** A number with its recent history. */
function Trend({
  fn,
  samples,
  of,
  pick,
  absent,
  format,
  children,
}: {
  fn: string;
  samples: readonly LiveSample[];
  of: string;
  pick: Pick;
  absent: 0 | null;
  format: (value: number) => string;
  children: string;
}) {
  const series = useMemo(
    () => functionSeries(samples, fn, { pick, stepSeconds, absent }),
    [samples, fn, pick, absent],
  );
  const range = extent(series);
  return (
    <div class="trend">
      <span class="figure">{children}</span>
      {range && (
        <Chart
          series={series}
          size="small"
          label={`${of} of ${fn} in the last 15 minutes: between ${format(range[0])} and ${format(range[1])}`}
          format={format}
        />
      )}
    </div>
  );
}
