/** A chart for each figure of a function. */
import { useMemo } from "preact/hooks";
import type { FunctionSeries } from "../../../../api/functionseries.ts";
import { Chart, type ChartPeriod } from "../live/chart.tsx";
import { Swatch } from "../live/lines.tsx";
import { extent } from "../live/series.ts";
import { unknown } from "../numbers.ts";
import { runbookAddress } from "../runbook/runbook.ts";
import { runbooks } from "../runbook/runbooks.ts";
import { text } from "../text.ts";
import { periodText } from "./controls.tsx";
import { type Figure, figures, lastOf, seriesOf } from "./figures.ts";
import type { Period, Range } from "./periods.ts";

interface ChartsProps {
  readonly series: FunctionSeries;
  readonly range: Range;
  readonly period: Period;
  readonly isZoomed: boolean;
  readonly onSelect: (period: ChartPeriod) => void;
}

export function Charts(props: ChartsProps) {
  return (
    <div class="figures">
      {figures.map((figure) => (
        <FigureCard key={figure.title} figure={figure} {...props} />
      ))}
    </div>
  );
}

function FigureCard({ figure, series, range, period, isZoomed, onSelect }: ChartsProps & { figure: Figure }) {
  const { title, about, format, isCount, runbooks: ids } = figure;
  const shown = useMemo(() => seriesOf(figure, series), [figure, series]);
  const limits = extent(shown);
  const id = `figure-${title.toLowerCase().replaceAll(" ", "-")}`;
  const values = limits
    ? text.chart.extent(format(limits[0]), format(limits[1]), shown.lines.map(lastText).join(" / "))
    : text.chart.noValues;
  function lastText(line: (typeof shown.lines)[number]): string {
    const last = lastOf(line);
    return last === null ? unknown : format(last);
  }
  return (
    <section class="card figure-card" aria-labelledby={id}>
      <header>
        <h3 id={id}>{title}</h3>
        <span class="row small" title={text.chart.last}>
          {shown.lines.map((line, at) => (
            <span key={line.name} class="row">
              <Swatch at={at} />
              {shown.lines.length > 1 && <span class="quiet">{line.name}</span>}
              <strong>{lastText(line)}</strong>
            </span>
          ))}
        </span>
      </header>
      <p class="quiet small">{about}</p>
      <Chart
        {...{ series: shown, format, isCount, onSelect }}
        size="medium"
        period={[period.from, period.to]}
        label={text.chart.label(title, series.function, periodText(period, range, isZoomed), values)}
      />
      <p class="row small">
        <span class="quiet">{text.chart.runbook}</span>
        {ids.map((one) => (
          <a key={one} href={runbookAddress(one)}>
            {runbooks.find(({ id: known }) => known === one)?.title}
          </a>
        ))}
      </p>
    </section>
  );
}
