/** All texts of the log views. */

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;

export const text = {
  /** The name of a log, for screen readers. */
  logOf: (name: string) => `Log of ${name}`,

  // Search
  search: "Find in the log",
  matches: (all: number) => (all === 0 ? "No matches" : count(all, "match", "matches")),
  match: (at: number, all: number) => `${at} of ${all.toLocaleString("en-US")}`,
  next: "Next match",
  previous: "Previous match",
  onlyMatches: "Only matching lines",

  // Settings and actions
  timestamps: "Timestamps",
  wrap: "Wrap lines",
  pause: "Stop following",
  follow: "Follow",
  download: "Download",
  newLines: (lines: number) => count(lines, "new line", "new lines"),
  jumpToEnd: "Jump to the end",

  // State
  waiting: "Waiting for log lines…",
  over: "End of log.",
  interrupted: "The connection is interrupted. New lines appear when it is back.",
  unreadableLead: "Cannot read the log:",
  unreadable: (label: string) => `Cannot read the log of ${label}:`,
  moreUnreadable: (logs: number) => `${count(logs, "other log", "other logs")} cannot be read either.`,
  trimmed: (lines: number) => `Only the last ${lines.toLocaleString("en-US")} lines are kept.`,

  // Pods of an Application
  podLogs: "Pod logs",
  buildLogs: "Build logs",
  pod: "Pod",
  allPods: (pods: number) => `All pods (${pods})`,
  deletedPod: (name: string) => `${name} (deleted)`,
  noPods: "No pods, so there are no logs.",
  noPodsNow: "There are no pods at the moment. Lines of deleted pods stay here.",
  podDeleted: "This pod no longer exists. Lines that were read stay here until you choose another pod.",
  showAllPods: "Show all pods",
  newestOnly: (shown: number, all: number) =>
    `Showing the newest ${shown} of ${all} logs. Choose a pod to see another log.`,
  beforeRestart: "Show the log from before the last restart",
} as const;
