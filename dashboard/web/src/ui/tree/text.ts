/** Texts of resource trees. */
export const text = {
  title: "Resources",
  /** Name of the button that shows or hides the children of an object. */
  childrenOf: (kind: string, name: string) => `Children of ${kind} ${name}`,
  log: "Log",
  logOf: (pod: string) => `Log of ${pod}`,
  available: (available: number, desired: number) => `${available}/${desired} available`,

  // Health
  deleting: "Deleting",
  ready: "Ready",
  scaledToZero: "Scaled to 0",
  rollingOut: "Rolling out",
  rolloutFailed: "Rollout failed",
  waitingForAddress: "Waiting for an address",
  missing: "Missing",

  // Why nothing is known about an object
  forbidden: (kind: string) => `You cannot view the ${kind} here.`,
  notLoaded: "Not loaded yet",
  outdated: "Not in the last known state",
} as const;
