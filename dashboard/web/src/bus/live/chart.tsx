/** Line charts, drawn by uPlot: https://github.com/leeoniya/uPlot */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./charts.css";
import { dashOf, maxLines } from "./lines.tsx";
import type { Series } from "./series.ts";
import { clock, type PointerPosition, Tooltip } from "./tooltip.tsx";

/** `large` and `medium` have axes; `small` fits into a table cell. */
export type ChartSize = "large" | "medium" | "small";

/** The period of a chart, in seconds since the epoch. */
export type ChartPeriod = readonly [from: number, to: number];

/** A chart with a tooltip. `label` or a table next to it describes the data in words. */
export function Chart({
  series,
  size,
  label,
  format,
  isCount = false,
  period,
  onSelect,
}: {
  series: Series;
  size: ChartSize;
  label: string;
  format: (value: number) => string;
  /** Whether the axis has whole numbers only. */
  isCount?: boolean | undefined;
  /** That of the data unless given. */
  period?: ChartPeriod | undefined;
  /** Called with the period over which the pointer was dragged. */
  onSelect?: ((period: ChartPeriod) => void) | undefined;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<PointerPosition>();
  const plot = useRef<uPlot>(undefined);
  // The plot reads the current ones: a change does not recreate it.
  const current = useRef({ period, onSelect });
  current.current = { period, onSelect };
  const names = series.lines.map(({ name }) => name).join("\n");
  // New data of the same lines does not recreate the chart.
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const drawn = new uPlot(
      optionsOf({
        ...{ names: names.split("\n"), size, format, isCount, element, onPoint: setPointed },
        period: () => current.current.period,
        onSelect: onSelect && ((selected) => current.current.onSelect?.(selected)),
      }),
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
  useLayoutEffect(() => plot.current?.setData(dataOf(series)), [series, period?.[0], period?.[1]]);
  useEffect(() => {
    if (pointed === undefined) return undefined;
    // The chart moves away from the pointer.
    const hide = () => setPointed(undefined);
    addEventListener("scroll", hide, { capture: true, once: true });
    return () => removeEventListener("scroll", hide, { capture: true });
  }, [pointed]);
  return (
    <>
      <div ref={host} class={`chart ${size}`} role="img" aria-label={label} />
      {pointed && <Tooltip pointed={pointed} series={series} format={format} />}
    </>
  );
}

const dataOf = ({ times, lines }: Series): uPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
];

const heights = { large: 240, medium: 160, small: 32 } as const;

function optionsOf({
  names,
  size,
  format,
  isCount,
  element,
  onPoint,
  period,
  onSelect,
}: {
  names: readonly string[];
  size: ChartSize;
  format: (value: number) => string;
  isCount: boolean;
  element: HTMLElement;
  onPoint: (pointed: PointerPosition | undefined) => void;
  period: () => ChartPeriod | undefined;
  onSelect: ((period: ChartPeriod) => void) | undefined;
}): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis: uPlot.Axis = {
    show: size !== "small",
    font,
    stroke: color("--chart-text"),
    grid: { stroke: color("--chart-grid"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: heights[size],
    legend: { show: false },
    cursor: {
      y: false,
      // The owner of the chart decides what a selection means.
      drag: { x: onSelect !== undefined, y: false, setScale: false },
      points: { show: size !== "small" },
    },
    hooks: {
      setCursor: [(drawn) => onPoint(pointerAt(drawn))],
      setSelect: [(drawn) => takeSelection(drawn, onSelect)],
    },
    ...(size === "small" && { padding: [2, 0, 2, 0] as uPlot.Padding }),
    scales: {
      x: { range: (_, from, to) => [...(period() ?? ([from, to] as const))] },
      // Keeps a line of zeros at the bottom.
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
    },
    axes: [
      { ...axis, space: 90, size: 28, values: (_, times) => times.map((time) => clock(time)) },
      {
        ...axis,
        size: 64,
        values: (_, values) => values.map((value) => (value === 0 ? "0" : format(value))),
        ...(isCount && { incrs: wholeNumbers }),
      },
    ],
    series: [
      {},
      ...names.map((label, at) => ({
        label,
        stroke: color(`--chart-${at % maxLines}`),
        width: size === "small" ? 1.5 : 2,
        dash: dashOf(at),
        points: { show: true, filter: isolated, size: size === "small" ? 3 : 5 },
      })),
    ],
  };
}

const wholeNumbers = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 20, 50].map((n) => n * 1000)];

/** The values between two gaps, which no line connects. */
function isolated(drawn: uPlot, line: number): number[] {
  const values = drawn.data[line] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}

/** Passes the selection on and removes its mark. A click selects nothing. */
function takeSelection(drawn: uPlot, onSelect: ((period: ChartPeriod) => void) | undefined): void {
  const { left, width } = drawn.select;
  if (width === 0) return;
  drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (width >= 4) onSelect?.([drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x")]);
}

/** The step nearest to the pointer; undefined without a pointer. */
function pointerAt({ cursor: { idx, left = -1 }, over }: uPlot): PointerPosition | undefined {
  if (left < 0 || typeof idx !== "number") return undefined;
  const { left: start, top, right, bottom } = over.getBoundingClientRect();
  return { index: idx, left: start + left, top, right, bottom };
}

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
