/** How many events of each kind there are. */
import { useMemo } from "preact/hooks";
import type { LiveSample } from "../../../../api/bus.ts";
import { KindName } from "../kindname.tsx";
import { count, rate } from "../numbers.ts";
import { Chart, mostLines, Swatch } from "./chart.tsx";
import type { Live } from "./live.ts";
import { eventSeries, type Line, others, recent, total } from "./series.ts";

const stepSeconds = 5;
/** What is now is the mean of so many seconds. */
export const nowSeconds = 10;

/** A chart, and its figures as a table. */
export function EventsChart({ live: { samples } }: { live: Live }) {
  const series = useMemo(() => eventSeries(samples, { stepSeconds, most: mostLines }), [samples]);
  return (
    <section class="card" aria-labelledby="events-by-kind">
      <header>
        <h2 id="events-by-kind">Events per second</h2>
        <span class="quiet small">The last 15 minutes, by kind</span>
      </header>
      {series.lines.length === 0 ? (
        <p class="quiet">No object of a watched kind has changed in the last 15 minutes.</p>
      ) : (
        <>
          <Chart
            series={series}
            size="large"
            label="Events per second of each kind over the last 15 minutes; the table below has the figures"
            format={rate}
          />
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th scope="col">Kind</th>
                  <th scope="col" class="number">
                    Now, per second
                  </th>
                  <th scope="col" class="number">
                    Highest
                  </th>
                  <th scope="col" class="number">
                    In 15 minutes
                  </th>
                </tr>
              </thead>
              <tbody>
                {series.lines.map((line, at) => (
                  <Row key={line.name} line={line} at={at} samples={samples} named={namesOf(series.lines)} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

const namesOf = (lines: readonly Line[]): ReadonlySet<string> => new Set(lines.map(({ name }) => name));

function Row({
  line: { name, values },
  at,
  samples,
  named,
}: {
  line: Line;
  at: number;
  samples: readonly LiveSample[];
  named: ReadonlySet<string>;
}) {
  const figureOf = ({ events }: LiveSample): number =>
    name === others
      ? Object.entries(events).reduce((sum, [kind, value]) => (named.has(kind) ? sum : sum + value), 0)
      : (events[name] ?? 0);
  const highest = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  return (
    <tr>
      <th scope="row" data-label="Kind">
        <span class="row">
          <Swatch at={at} />
          {name === others ? name : <KindName of={name} />}
        </span>
      </th>
      <td class="number" data-label="Now, per second">
        {rate(recent(samples, nowSeconds, figureOf))}
      </td>
      <td class="number" data-label="Highest">
        {rate(highest)}
      </td>
      <td class="number" data-label="In 15 minutes">
        {count(total(samples, figureOf))}
      </td>
    </tr>
  );
}
