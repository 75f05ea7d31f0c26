/** Texts about what an object asks for and what runs. */
export const text = {
  title: "Wanted and running",
  setting: "Setting",
  wanted: "Wanted",
  running: "Running",
  notSet: "not set",

  // States
  states: { good: "Same", busy: "Changing", bad: "Not as wanted", off: "Unknown" },
  same: "Everything that you asked for is running.",
  differs: "These settings are not what you asked for.",
  deleting: (kind: string) => `The ${kind} is being deleted.`,
  notReconciled: "Not reconciled yet: the platform has not applied your last change.",
  notApplied: (message: string) => `Your last change is not applied: ${message}`,
  missing: (workload: string) => `The ${workload} is missing.`,
} as const;
