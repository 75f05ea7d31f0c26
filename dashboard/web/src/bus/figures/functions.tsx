/** Queues and latencies of functions. */
import { useMemo } from "preact/hooks";
import type { FunctionFigures, FunctionSample, LiveSample } from "../../../../api/bus.ts";
import { deadLettersAddress, functionAddress } from "../addresses.ts";
import { Chart } from "../live/chart.tsx";
import { nowSeconds } from "../live/events.tsx";
import type { Live } from "../live/live.ts";
import { extent, functionSeries, type Pick, recent } from "../live/series.ts";
import { count, duration, rate } from "../numbers.ts";
import { functionsText as text } from "./text.ts";

const stepSeconds = 15;

const queues = Object.entries(text.queues) as readonly (readonly [
  keyof typeof text.queues,
  { readonly name: string; readonly about: string },
])[];

/** A table with a row per function. */
export function Functions({ functions, live }: { functions: readonly FunctionFigures[]; live: Live }) {
  return (
    <section class="card" aria-labelledby="functions">
      <header>
        <h2 id="functions">{text.title}</h2>
        <span class="quiet small">{text.covers(live.windowSeconds)}</span>
      </header>
      <div class="table dense">
        <table>
          <thead>
            <tr>
              <th scope="col">{text.function}</th>
              {queues.map(([field, { name, about }]) => (
                <th key={field} scope="col" class="number" title={about}>
                  {name}
                </th>
              ))}
              <th scope="col" class="number" title={text.deadLetters.about}>
                {text.deadLetters.name}
              </th>
              <th scope="col">{text.reconciles.name}</th>
              <th scope="col" title={text.waited.about}>
                {text.waited.name}
              </th>
              <th scope="col" title={text.took.about}>
                {text.took.name}
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
      <th scope="row" data-label={text.function}>
        <a href={functionAddress(fn)}>{fn}</a>
      </th>
      {queues.map(([field, { name }]) => (
        <td key={field} class={figures[field] ? "number" : "number zero"} data-label={name}>
          {count(figures[field])}
        </td>
      ))}
      <td class={deadLetters ? "number" : "number zero"} data-label={text.deadLetters.name}>
        {deadLetters ? (
          <a class="bad-text" href={deadLettersAddress(fn)}>
            {count(deadLetters)}
          </a>
        ) : (
          count(deadLetters)
        )}
      </td>
      <td data-label={text.reconciles.name}>
        <Trend {...{ fn, samples }} of={text.reconciles.chart} pick={counting} absent={0} format={rate}>
          {rate(recent(samples, nowSeconds, reconciles))}
        </Trend>
      </td>
      <td data-label={text.waited.name}>
        <Trend {...{ fn, samples }} of={text.waited.chart} pick={waiting} absent={null} format={duration}>
          {spreadText(latest?.waited)}
        </Trend>
      </td>
      <td data-label={text.took.name}>
        <Trend {...{ fn, samples }} of={text.took.chart} pick={working} absent={null} format={duration}>
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
  spread === undefined ? text.noData : `${duration(spread.p50)} / ${duration(spread.p99)}`;

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
          label={text.chart(of, fn, format(range[0]), format(range[1]))}
          format={format}
        />
      )}
    </div>
  );
}
