/** The texts of the causal history. */
import { plural } from "../numbers.ts";

export const text = {
  title: "Causal history",
  what: "this history",
  about:
    "Each reconcile is below the write that caused it. Retries and timers follow the run before them. A change by another program is below the write that came before it. Times are relative to the origin.",
  origin: {
    label: "Origin",
    webhook: (provider: string, event: string) => `Webhook ${provider} ${event}`,
    delivery: (delivery: string) => `Delivery ${delivery}`,
    expired: "The webhook itself is not kept anymore.",
    change: "Change of",
    changedBy: (version: string) => `resource version ${version}, by a user or another program`,
    before: "Run before it:",
    timer: "Timer",
    timerWhy: "An earlier run is not known.",
    replay: "Replayed dead letter",
    replayWhy: "The run that failed is not known.",
    unknown: "Unknown cause",
    unknownWhy: "The record does not name its cause.",
    isOpen: "The search ended before it read all older activity, so this origin may have a cause of its own.",
  },
  steps: {
    label: "What followed",
    none: "No reconcile followed in the visible namespaces.",
    until: (time: string) => `The search ended early. Reconciles that ended after ${time} are missing.`,
    omitted: (count: number) =>
      `${plural(count, "more reconcile")} followed. The tree shows the oldest ones.`,
    refresh: "Refresh",
  },
  thread: {
    outside: "Then another program changed",
    outsideVersion: (version: string) => `resource version ${version}`,
    followed: (count: number, failures: number) =>
      `${plural(count, "reconcile")} followed${failures > 0 ? `, ${failures} failed` : ""}`,
  },
  run: {
    here: "You came from here",
    continued: {
      timer: "Timer",
      replay: "Replay",
      retry: (attempt: string) => `${attempt} attempt`,
      again: "Another worker",
    },
    took: (waited: string, took: string, replica: string) => `waited ${waited}, took ${took} on ${replica}`,
    alsoCaused: "Also caused by:",
    moreCauses: (count: number) => `and ${plural(count, "more cause")}`,
    moreWrites: (count: number) => `and ${plural(count, "more write")}`,
  },
  quiet: {
    label: (count: number) => `${plural(count, "timer run")} without changes`,
    until: "until",
  },
  missing: "This entry is gone",
  missingWhy: "Activity is kept for one day. You also need access to the entry's namespace.",
  back: "History",
} as const;
