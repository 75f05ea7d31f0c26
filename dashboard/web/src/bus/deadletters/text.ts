/** Texts about dead letters. */
import { plural } from "../numbers.ts";

/** The list. */
export const listText = {
  title: "Dead letters",
  what: "dead letters",
  replay: (shown: number) => (shown === 1 ? "Replay the one shown" : `Replay all ${shown} shown`),
  caption: (found: number) => plural(found, "dead letter"),
  none: (fn: string) => (fn === "" ? "No dead letters" : `No dead letters of ${fn}`),
  about:
    "A request becomes a dead letter when retrying would not help. It stays until you replay it, or until its object is reconciled after a change.",
  ofAllFunctions: "Dead letters of all functions",
  overview: "Bus overview",
  function: "Function",
  allFunctions: "All functions",
  columns: {
    object: "Object",
    function: "Function",
    reason: "Reason",
    attempts: "Attempts",
    givenUp: "Given up",
    message: "Message",
  },
} as const;

/** The screen of a dead letter. */
export const detailText = {
  what: "this dead letter",
  replay: "Replay",
  missing: (fn: string, name: string) => `No dead letter of ${fn} for ${name}`,
  missingWhy: "It was replayed, or its object changed and was reconciled.",
  all: "All dead letters",
  error: "Error",
  errorOf: (fn: string) => `The function ${fn} gave up with this error:`,
  stack: "Stack",
  request: "Request",
  function: "Function",
  object: "Object",
  open: (kind: string) => `Open the ${kind}`,
  cause: "Cause",
  attempts: "Failed attempts",
  givenUp: "Given up",
  by: "by",
  trace: "Trace",
  noTrace: "none",
} as const;

/** The replay and its confirmation. */
export const replayText = {
  title: (name: string) => `Replay ${name}?`,
  several: (count: number) => plural(count, "dead letter"),
  about: (count: number) =>
    count === 1
      ? "The object is reconciled again in its current state. If that fails, it becomes a dead letter again."
      : "The objects are reconciled again in their current state. Those that fail become dead letters again.",
  left: (count: number) => `You cannot replay ${plural(count, "other")}.`,
  cancel: "Cancel",
  replay: "Replay",
  requested: (count: number) => `Requested ${count === 1 ? "the reconcile" : plural(count, "reconcile")}.`,
  failed: (count: number) => `Cannot replay ${plural(count, "dead letter")}:`,
  /** In place of a missing namespace. */
  cluster: "the cluster",
  /** Before the right, between right and role, and after the role. */
  denied: (namespaces: readonly string[]) =>
    `You cannot replay dead letters in ${new Intl.ListFormat("en-US").format(namespaces)}. You need the right to create`,
  deniedRole: "there, which the role",
  deniedEnd: "includes.",
} as const;

/** What happened after a replay. */
export const resultText = {
  title: "After the replay",
  what: "the result of the replay",
  history: (name: string) => `History of ${name}`,
  waiting: "Reconcile requested. Waiting for a worker…",
  open: "Open the new dead letter",
} as const;
