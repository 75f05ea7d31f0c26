/** Texts that several screens share. */
import type { Tone } from "./health.ts";

/** Content that is loading, stale, unreachable, or missing. */
export const statesText = {
  loading: "Loading…",
  slow: "Kubernetes has not answered yet. The page keeps waiting.",
  interrupted: "Live updates are interrupted.",
  lastKnown: "This is the last known state, from",
  sessionEnded: "Your session has ended. Log in again to continue.",
  notLoaded: "This could not be loaded",
  retrying: "The page tries again every few seconds. Nothing is known about this content until then.",
  retry: "Try again",
  notFound: (kind: string, name: string) => `${kind} ${name} not found`,
  neverSeen: "There is no object with this name in this namespace. It may have been deleted before.",
  deleted: (kind: string, name: string) => `${kind} ${name} was deleted`,
  lastSeen: "This page last saw it",
  backToList: "Back to the list",
  notInstalled: "This kind is not installed",
  install: "A cluster administrator can install it:",
  forbidden: (namespace: string) =>
    `You cannot view this in ${namespace === "" ? "all namespaces" : namespace}`,
  yourNamespaces: "You have a role in these namespaces:",
  askForRole: "Choose a namespace in which you have a role, or ask a cluster administrator for access.",
  switchTo: (namespace: string) => `Switch to ${namespace}`,
  otherNamespace: "Another namespace",
  switchNamespace: "Switch namespace",
};

/** A screen whose files cannot be loaded. */
export const screenText = {
  notLoaded: "This screen could not be loaded",
  offline: "The dashboard does not respond. Check your network connection.",
  failed: "The dashboard responds, but some files of this screen are missing. It may be updating right now.",
  retry: "Try again",
  reload: "Reload the page",
};

/** A newer version of the page. */
export const newVersionText = {
  available: "A new version is available. Reloading keeps the text in your forms.",
  reload: "Reload",
  close: "Close",
};

/** The choice of the namespace. */
export const namespaceText = {
  label: "Namespace",
  all: "All namespaces",
};

/** Rights that the user lacks. */
export const accessText = {
  denied: (verb: string, resource: string, namespace: string | undefined) =>
    `You cannot do this: your roles ${namespace ? `in ${namespace}` : "in all namespaces"} do not allow you to ${verb} ${resource}. Ask an administrator for a role.`,
};

/** Deletions. */
export const deletionText = {
  deleting: (what: string) => `Deleting ${what}.`,
};

/** Texts of tables and their filters. */
export const tableText = {
  /** Label of the search field. */
  find: (what: string) => `Find ${what}`,
  /** Label of the status buttons. */
  status: "Status",
  tones: {
    bad: "Needs attention",
    busy: "In progress",
    off: "Waiting or paused",
    good: "Ready",
  } satisfies Record<Tone, string>,
  all: (count: number, what: string) => `${count} ${what}`,
  some: (count: number, all: number, what: string) => `${count} of ${all} ${what}`,
  none: (what: string) => `No ${what} match`,
  words: (words: string) => `the text “${words}”`,
  statuses: (labels: readonly string[]) => `the status “${labels.join("” or “")}”`,
  and: " and ",
  clear: "Clear filters",
  sortBy: "Sort by",
};

/** Texts of copy buttons. */
export const copyText = {
  copied: "Copied",
  /** Shown where the browser has no clipboard for the page: it has selected the text. */
  selected: "Selected",
  copyImage: (image: string) => `Copy ${image}`,
};

/** The YAML of an object. */
export const yamlText = {
  title: "YAML",
  show: "Show the YAML",
  hide: "Hide the YAML",
  copy: "Copy the YAML",
  readOnly: "Read-only, without managedFields",
};

/** Texts of lists of Kubernetes Events. */
export const eventText = {
  times: (count: number) => `${count} times`,
};

/** CPU and memory of pods. */
export const usageText = {
  cpu: "CPU",
  memory: "Memory",
  of: (limit: string) => `of ${limit}`,
  none: "CPU and memory are not shown: this cluster has no metrics API (metrics.k8s.io). A cluster administrator can install metrics-server.",
  forbidden:
    "You cannot view CPU and memory here: your roles do not allow you to list pods in metrics.k8s.io.",
  unavailable: "CPU and memory are not available right now: the metrics API does not answer.",
};

/** Messages in the words of Kubernetes or a server. */
export const detailsText = {
  summary: "Details",
};
