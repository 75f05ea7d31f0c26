/** The tooltip of a chart. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { text } from "../text.ts";
import { Swatch } from "./lines.tsx";
import type { Series } from "./series.ts";

/** The step under the pointer, and where the pointer and its chart are on the screen, in pixels. */
export interface PointerPosition {
  readonly index: number;
  readonly left: number;
  /** Edges of the chart. */
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Distance from the pointer, and from the edges of the screen. Pixels. */
const margin = 8;

/** The values of a step. Hidden from screen readers, which have the data in words. */
export function Tooltip({
  pointed,
  series: { times, lines },
  format,
}: {
  pointed: PointerPosition;
  series: Series;
  format: (value: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  // Placed once its size is known.
  useLayoutEffect(() => {
    if (box.current) place(box.current, pointed);
  });
  const time = times[pointed.index];
  if (time === undefined) return null;
  return (
    <div ref={box} class="tooltip" aria-hidden="true">
      <span class="quiet">{clock(time, "with seconds")}</span>
      {lines.map(({ name, values }, at) => (
        <span key={name} class="row">
          {lines.length > 1 && <Swatch at={at} />}
          {lines.length > 1 && <span class="name">{name}</span>}
          <span class="figure">{textOf(values[pointed.index], format)}</span>
        </span>
      ))}
    </div>
  );
}

/** Puts the box beside the pointer, over its chart if that is high enough, and always on the screen. */
function place(box: HTMLElement, { left, top, right, bottom }: PointerPosition): void {
  const { width, height } = box.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isInside = bottom - top >= height;
  const end = left + margin + width;
  const x = end <= (isInside ? right : clientWidth - margin) ? left + margin : left - margin - width;
  const above = top - margin - height;
  const y = isInside ? top : above >= margin ? above : bottom + margin;
  box.style.left = `${within(x, clientWidth - width)}px`;
  box.style.top = `${within(y, clientHeight - height)}px`;
}

const within = (position: number, room: number): number =>
  Math.max(margin, Math.min(position, room - margin));

const textOf = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? text.chart.noData : format(value);

/** The time of day of seconds since the epoch. */
export const clock = (seconds: number, precision: "minutes" | "with seconds" = "minutes"): string =>
  new Date(seconds * 1000).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    ...(precision === "with seconds" && { second: "2-digit" }),
    hourCycle: "h23",
  });
