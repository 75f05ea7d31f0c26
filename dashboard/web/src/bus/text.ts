/** The texts of the bus screens. */
import { plural } from "./numbers.ts";

export const text = {
  notFound: {
    title: "Page not found",
    why: "The bus has no such page.",
    back: "Bus overview",
  },
  runbooks: {
    title: "Runbooks",
    all: "All runbooks",
    others: "Other runbooks",
    unknown: "There is no such runbook. Choose one from the list.",
  },
  functionPage: {
    what: "this function",
    missing: (fn: string) => `Function ${fn} not found`,
    missingWhy: "The dashboard does not know this function. Check its name.",
    reconciles: "Reconciles",
    links: "Related pages",
    deadLetters: "Dead letters",
    inFlight: "Objects in flight",
    figures: "Figures",
  },
  period: {
    range: "Time range",
    zoom: "Zoom",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    earlier: "Earlier",
    later: "Later",
    reset: "Reset zoom",
    hint: "Drag across a chart to zoom.",
    last: (range: string) => `The last ${range}`,
    between: (from: string, to: string) => `${from} to ${to}`,
    steps: (length: string) => `in steps of ${length}`,
    since: (time: string, zone: string) =>
      `This dashboard process has counted since ${time}, and keeps one day. Times are in ${zone}.`,
    nothing: "No figures exist for this period. Choose a later one.",
  },
  chart: {
    label: (title: string, fn: string, period: string, values: string) =>
      `${title} of ${fn}, ${period}: ${values}. The table below the charts has all values.`,
    extent: (least: string, most: string, last: string) => `between ${least} and ${most}, last ${last}`,
    noValues: "no values",
    noData: "no data",
    runbook: "Runbook:",
    last: "Last value",
  },
  table: {
    show: (rows: number) => `Show ${plural(rows, "step")} as a table`,
    caption: "Figures by step, newest first",
    time: "Time",
  },
  figures: {
    throughput: {
      title: "Throughput",
      about: "Reconciles per second",
      line: "Reconciles",
      column: "Reconciles per second",
    },
    queue: {
      title: "Queue length",
      about: "Unseen: events not routed yet. Pending: objects waiting for a worker",
      unseen: "Unseen",
      pending: "Pending",
      column: "",
    },
    waited: {
      title: "Latency to the start",
      about: "From the event to the start of the reconcile",
      column: "To the start",
    },
    took: {
      title: "Latency of the reconcile",
      about: "From its start to its end",
      column: "Reconcile",
    },
    inFlight: {
      title: "In flight",
      about: "Objects being reconciled",
      line: "In flight",
      column: "In flight",
    },
    retries: {
      title: "Retries",
      about: "Failed reconciles per minute that will be retried",
      line: "Retries",
      column: "Retries per minute",
    },
    deadLetters: {
      title: "Dead letters",
      about: "Requests that the function gave up",
      line: "Dead letters",
      column: "Dead letters",
    },
  },
} as const;
