/** Texts about the figures of functions, kinds, and workers. */

/** The table of functions. */
export const functionsText = {
  title: "Functions",
  covers: (seconds: number) =>
    `Percentiles cover the last ${seconds > 0 ? `${seconds} s` : "seconds"}, charts the last 15 minutes`,
  function: "Function",
  /** Queues, in the order in which objects pass through them. */
  queues: {
    events: {
      name: "Unseen",
      about: "Events, webhooks, and due requests that no worker has routed yet",
    },
    pending: { name: "Pending", about: "Objects waiting for a free worker" },
    inFlight: { name: "In flight", about: "Objects being reconciled" },
    parked: { name: "Parked", about: "Objects that changed during their reconcile" },
    delayed: { name: "Delayed", about: "Objects waiting for a timer" },
    retrying: { name: "Retrying", about: "Delayed objects that failed and will be retried" },
  },
  deadLetters: { name: "Dead letters", about: "Requests that the function gave up" },
  reconciles: { name: "Reconciles per second", chart: "Reconciles per second" },
  waited: {
    name: "Event to start, p50 / p99",
    about: "From the event to the start of the reconcile",
    chart: "Time from event to start",
  },
  took: {
    name: "Reconcile, p50 / p99",
    about: "From the start of the reconcile to its end",
    chart: "Time of a reconcile",
  },
  noData: "no data",
  chart: (of: string, fn: string, least: string, most: string) =>
    `${of} of ${fn} in the last 15 minutes: between ${least} and ${most}`,
} as const;

/** The table of kinds. */
export const kindsText = {
  title: "Kinds",
  about: "Objects on the bus and the bridge's progress",
  watched: (watched: number, all: number) =>
    watched === all ? `All ${all} kinds are watched` : `${watched} of ${all} kinds are watched`,
  kind: "Kind",
  namespaces: "Namespaces",
  allNamespaces: "all",
  objects: "Objects",
  state: "State",
  bridge: "Bridge",
  resourceVersion: "Resource version",
  moved: "Moved",
  neverWatched: "Never watched",
} as const;

/** The table of workers. */
export const workersText = {
  title: "Workers",
  about: "Objects in flight",
  forbidden: "You cannot view the workers.",
  notShown: "The workers cannot be shown.",
  none: "No worker responded. Pending objects are reconciled once you start one:",
  replica: "Replica",
  function: "Function",
  functions: (count: number) => `${count} functions`,
  object: "Object",
  since: "Since",
  attempt: "Attempt",
  idle: "Idle",
  trace: "trace",
} as const;
