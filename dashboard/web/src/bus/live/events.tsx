/** Events per second by kind. */
import { useMemo } from "preact/hooks";
import type { LiveSample } from "../../../../api/bus.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { KindName } from "../kindname.tsx";
import { count, rate } from "../numbers.ts";
import { zoneAt } from "../times.ts";
import { Chart } from "./chart.tsx";
import { maxLines, Swatch } from "./lines.tsx";
import type { Live } from "./live.ts";
import { eventSeries, type Line, others, recent, total } from "./series.ts";
import { eventsText as text } from "./text.ts";

const stepSeconds = 5;
/** Current rates are the mean of these seconds. */
export const nowSeconds = 10;

/** A chart and its numbers as a table. */
export function EventsChart({ live: { samples } }: { live: Live }) {
  const series = useMemo(() => eventSeries(samples, { stepSeconds, most: maxLines }), [samples]);
  return (
    <section class="card" aria-labelledby="events-by-kind">
      <header>
        <h2 id="events-by-kind">{text.title}</h2>
        <span class="quiet small">{text.about(zoneAt(new Date()))}</span>
      </header>
      {series.lines.length === 0 ? (
        <p class="quiet">{text.none}</p>
      ) : (
        <>
          <Chart series={series} size="large" label={text.chart} format={rate} />
          <Table
            rows={series.lines.map((line, at) => ({ ...line, at }))}
            keyOf={({ name }) => name}
            columns={columnsWith(samples, new Set(series.lines.map(({ name }) => name)))}
          />
        </>
      )}
    </section>
  );
}

/** `named` are the kinds with their own line. */
function columnsWith(
  samples: readonly LiveSample[],
  named: ReadonlySet<string>,
): readonly Column<Line & { readonly at: number }>[] {
  const figureOf =
    ({ name }: Line) =>
    ({ events }: LiveSample): number =>
      name === others
        ? Object.entries(events).reduce((sum, [kind, value]) => (named.has(kind) ? sum : sum + value), 0)
        : (events[name] ?? 0);
  const highest = ({ values }: Line): number =>
    values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  return [
    [
      text.kind,
      ({ name, at }) => (
        <span class="row">
          <Swatch at={at} />
          {name === others ? name : <KindName of={name} />}
        </span>
      ),
    ],
    [text.now, (line) => rate(recent(samples, nowSeconds, figureOf(line))), "number"],
    [text.highest, (line) => rate(highest(line)), "number"],
    [text.total, (line) => count(total(samples, figureOf(line))), "number"],
  ];
}
