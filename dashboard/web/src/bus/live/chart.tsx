/** Line charts, drawn by uPlot: https://github.com/leeoniya/uPlot */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./charts.css";
import type { Series } from "./series.ts";

/** Lengths of dashes and gaps, which distinguish lines without their colors. */
const dashes: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [12, 3, 2, 3], [5, 2], [1, 5]];

/** More lines could not be distinguished. */
export const maxLines = dashes.length;

const dashOf = (at: number): number[] => [...(dashes[at % maxLines] ?? [])];

/** `large` has axes; `small` fits into a table cell. */
export type ChartSize = "large" | "small";

/** The step under the pointer and its position on the screen, in pixels. */
interface PointerPosition {
  readonly index: number;
  readonly left: number;
  readonly top: number;
}

/** A chart with a tooltip. `label` or a table next to it describes the data in words. */
export function Chart({
  series,
  size,
  label,
  format,
}: {
  series: Series;
  size: ChartSize;
  label: string;
  format: (value: number) => string;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<PointerPosition>();
  const plot = useRef<uPlot>(undefined);
  const names = series.lines.map(({ name }) => name).join("\n");
  // New data of the same lines does not recreate the chart.
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const drawn = new uPlot(
      optionsOf({ names: names.split("\n"), size, format, element, onPoint: setPointed }),
      dataOf(series),
      element,
    );
    plot.current = drawn;
    const forget = [onResize(element, drawn), onOtherColors(() => drawn.redraw(false))];
    return () => {
      for (const end of forget) end();
      drawn.destroy();
    };
  }, [names, size]);
  useLayoutEffect(() => plot.current?.setData(dataOf(series)), [series]);
  return (
    <>
      <div ref={host} class={`chart ${size}`} role="img" aria-label={label} />
      {pointed && <Tooltip pointed={pointed} series={series} format={format} />}
    </>
  );
}

/** The tooltip. Hidden from screen readers, which have the data in words. */
function Tooltip({
  pointed: { index, left, top },
  series: { times, lines },
  format,
}: {
  pointed: PointerPosition;
  series: Series;
  format: (value: number) => string;
}) {
  const time = times[index];
  if (time === undefined) return null;
  return (
    <div
      class="tooltip"
      aria-hidden="true"
      // Keeps it on the screen.
      style={{ left: `clamp(9rem, ${left}px, 100vw - 9rem)`, top: `${top}px` }}
    >
      <span class="quiet">{clock(time, "with seconds")}</span>
      {lines.map(({ name, values }, at) => (
        <span key={name} class="row">
          {lines.length > 1 && <Swatch at={at} />}
          {lines.length > 1 && <span class="name">{name}</span>}
          <span class="figure">{textOf(values[index], format)}</span>
        </span>
      ))}
    </div>
  );
}

const textOf = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? "no data" : format(value);

/** A sample of a line for legends. */
export function Swatch({ at }: { at: number }) {
  return (
    <svg class={`swatch line-${at % maxLines}`} viewBox="0 0 28 8" width="28" height="8" aria-hidden="true">
      <line
        x1="1"
        y1="4"
        x2="27"
        y2="4"
        stroke="currentColor"
        stroke-width="2.5"
        stroke-dasharray={dashOf(at).join(" ")}
      />
    </svg>
  );
}

const dataOf = ({ times, lines }: Series): uPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
];

const heights = { large: 240, small: 32 } as const;

function optionsOf({
  names,
  size,
  format,
  element,
  onPoint,
}: {
  names: readonly string[];
  size: ChartSize;
  format: (value: number) => string;
  element: HTMLElement;
  onPoint: (pointed: PointerPosition | undefined) => void;
}): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis: uPlot.Axis = {
    show: size === "large",
    font,
    stroke: color("--chart-text"),
    grid: { stroke: color("--chart-grid"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: heights[size],
    legend: { show: false },
    // No selection or zoom: charts always show all of the last minutes.
    cursor: { y: false, drag: { x: false, y: false }, points: { show: size === "large" } },
    hooks: { setCursor: [(drawn) => onPoint(pointerAt(drawn))] },
    ...(size === "small" && { padding: [2, 0, 2, 0] as uPlot.Padding }),
    // Keeps a line of zeros at the bottom.
    scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.05, Number.MIN_VALUE) || 1] } },
    axes: [
      { ...axis, space: 90, size: 28, values: (_, times) => times.map((time) => clock(time)) },
      { ...axis, size: 64, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...names.map((label, at) => ({
        label,
        stroke: color(`--chart-${at % maxLines}`),
        width: size === "large" ? 2 : 1.5,
        dash: dashOf(at),
        points: { show: false },
      })),
    ],
  };
}

/** The step nearest to the pointer; undefined without a pointer. */
function pointerAt({ cursor: { idx, left = -1 }, over }: uPlot): PointerPosition | undefined {
  if (left < 0 || typeof idx !== "number") return undefined;
  const bounds = over.getBoundingClientRect();
  return { index: idx, left: bounds.left + left, top: bounds.top };
}

const clock = (seconds: number, precision: "minutes" | "with seconds" = "minutes"): string =>
  new Date(seconds * 1000).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    ...(precision === "with seconds" && { second: "2-digit" }),
    hourCycle: "h23",
  });

function onResize(element: HTMLElement, drawn: uPlot): () => void {
  const observer = new ResizeObserver(() =>
    drawn.setSize({ width: element.clientWidth, height: drawn.height }),
  );
  observer.observe(element);
  return () => observer.disconnect();
}

/** Redraws after a theme change: a canvas does not follow CSS. */
function onOtherColors(redraw: () => void): () => void {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", redraw);
  const chosen = new MutationObserver(redraw);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    scheme.removeEventListener("change", redraw);
    chosen.disconnect();
  };
}
