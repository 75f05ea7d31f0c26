/** The values of all charts as a table. */
import { useMemo, useState } from "preact/hooks";
import type { FunctionSeries } from "../../../../api/functionseries.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { unknown } from "../numbers.ts";
import { text } from "../text.ts";
import { dateOf, timeOf } from "../times.ts";
import { figures } from "./figures.ts";

interface Row {
  readonly at: number;
  readonly series: FunctionSeries;
}

/** Folded. A row per step, which is built only when the table is shown. */
export function FigureTable({ series }: { series: FunctionSeries }) {
  const [isOpen, setOpen] = useState(false);
  const { times } = series;
  return (
    <details class="card dense steps-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{text.table.show(times.length)}</summary>
      {isOpen && (
        // Wider than a small screen, so the keyboard must be able to scroll it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above.
        <section class="wide" tabIndex={0} aria-label={text.table.caption}>
          <Rows series={series} />
        </section>
      )}
    </details>
  );
}

function Rows({ series }: { series: FunctionSeries }) {
  const { times } = series;
  const columns = useMemo(() => columnsOf(series), [series]);
  const rows = useMemo(() => times.map((_, at): Row => ({ at, series })).reverse(), [times, series]);
  return (
    <Table rows={rows} keyOf={({ at }) => String(times[at])} columns={columns} caption={text.table.caption} />
  );
}

function columnsOf(series: FunctionSeries): readonly Column<Row>[] {
  const time: Column<Row> = [text.table.time, ({ at }) => timeText(series.times[at] ?? 0)];
  return [
    time,
    ...figures.flatMap((figure) => {
      const lines = figure.lines(series);
      return lines.map(({ name, values }): Column<Row> => {
        const heading = lines.length === 1 ? figure.column : `${figure.column} ${name}`.trim();
        return [heading, ({ at }) => valueText(values[at], figure.format), "number"];
      });
    }),
  ];
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return `${dateOf(time)} ${timeOf(time)}`;
}

const valueText = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? unknown : format(value);
