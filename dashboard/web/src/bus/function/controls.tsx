/** The controls of the period that the charts show. */
import type { FunctionSeries } from "../../../../api/functionseries.ts";
import { duration } from "../numbers.ts";
import { text } from "../text.ts";
import { dateTimeOf, zoneAt } from "../times.ts";
import { moved, type Period, type Range, ranges, zoomIn, zoomOut } from "./periods.ts";

const words = text.period;

/** The chosen period in words. */
export const periodText = ({ from, to }: Period, range: Range, isZoomed: boolean): string =>
  isZoomed ? words.between(dateTimeAt(from), dateTimeAt(to)) : words.last(range.phrase);

const dateTimeAt = (seconds: number): string => dateTimeOf(new Date(seconds * 1000));

export function PeriodControls({
  series: { now, since, stepSeconds, times },
  range,
  period,
  isZoomed,
  onRange,
  onZoom,
}: {
  series: FunctionSeries;
  range: Range;
  period: Period;
  isZoomed: boolean;
  onRange: (id: string) => void;
  onZoom: (to: Period | undefined) => void;
}) {
  return (
    <section class="card" aria-labelledby="figures">
      <header>
        <h2 id="figures">{text.functionPage.figures}</h2>
        <p class="quiet small" role="status">
          {periodText(period, range, isZoomed)}, {words.steps(duration(stepSeconds * 1000))}
        </p>
      </header>
      <div class="row spread">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset has a border and a legend. */}
        <div class="row" role="group" aria-label={words.range}>
          {ranges.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              aria-pressed={id === range.id && !isZoomed}
              onClick={() => onRange(id)}
            >
              {name}
            </button>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: as above. */}
        <div class="row" role="group" aria-label={words.zoom}>
          <button type="button" onClick={() => onZoom(zoomIn(period, now))}>
            {words.zoomIn}
          </button>
          <button type="button" onClick={() => onZoom(zoomOut(period, now))}>
            {words.zoomOut}
          </button>
          <button type="button" onClick={() => onZoom(moved(period, -1, now))}>
            {words.earlier}
          </button>
          <button type="button" onClick={() => onZoom(moved(period, 1, now))}>
            {words.later}
          </button>
          {/* Stays focusable, so that the focus is not lost when it has no effect any more. */}
          <button type="button" aria-disabled={!isZoomed} onClick={() => isZoomed && onZoom(undefined)}>
            {words.reset}
          </button>
        </div>
      </div>
      <p class="quiet small">
        {words.since(dateTimeAt(since), zoneAt(new Date(since * 1000)))} {words.hint}
      </p>
      {times.length === 0 && (
        <p class="notice" role="status">
          {words.nothing}
        </p>
      )}
    </section>
  );
}
