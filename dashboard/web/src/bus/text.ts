/** The texts of the bus screens. */
import { plural } from "./numbers.ts";

export const text = {
  title: "The bus",
  tabs: {
    overview: "Overview",
    deadLetters: "Dead letters",
    history: "History",
    runbooks: "Runbooks",
  },
  overview: {
    what: "the bus",
    figures: "the figures",
    part: (namespace: string) =>
      `You see only ${namespace === "" ? "your namespaces" : `the namespace ${namespace}`}, not the figures of the whole bus.`,
  },
  refused: {
    forbidden: (what: string) => `You cannot view ${what}`,
    title: (what: string) => `Cannot show ${what}`,
    why: "The dashboard refused the request.",
    /** Before the name of the role, and after it. */
    need: "You need the role",
    inCluster: "in the whole cluster. Ask a cluster administrator.",
    inNamespace: (namespace: string) =>
      `in ${namespace === "" ? "the whole cluster" : namespace}. Choose a namespace in which you have it, or ask a cluster administrator.`,
  },
  causes: {
    /** In place of the object whose cause is shown. */
    it: "It",
    changed: "changed",
    version: (resourceVersion: string) => `resource version ${resourceVersion}`,
    webhook: "Webhook",
    received: "received",
    delivery: (id: string) => `delivery ${id}`,
    timer: "Timer fired",
    replay: "Dead letter replayed",
  },
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
    /** The name on the button, and the words after "the last". */
    ranges: {
      "5m": { name: "5 min", phrase: "5 minutes" },
      "15m": { name: "15 min", phrase: "15 minutes" },
      "1h": { name: "1 h", phrase: "hour" },
      "6h": { name: "6 h", phrase: "6 hours" },
      "24h": { name: "24 h", phrase: "24 hours" },
    },
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
