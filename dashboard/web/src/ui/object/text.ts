/** Texts of the parts that screens of one object share. */

/** The tabs of a screen. */
export const tabsText = {
  overview: "Overview",
  settings: "Settings",
  yaml: "YAML",
  list: (kinds: string, namespace: string) => `${kinds} in ${namespace}`,
  about: (name: string) => `About ${name}`,
  overviewOf: (name: string) => `Overview of ${name}`,
} as const;

/** The conditions of an object. */
export const conditionsText = {
  title: "Conditions",
  none: "Not reconciled yet.",
  /** Between a status and the time since when it has it: `True for 5 min`. */
  for: "for",
} as const;

/** Lists of Kubernetes Events. */
export const eventText = {
  title: "Events",
  none: "No events in the last hour.",
  times: (count: number) => `${count} times`,
} as const;

/** A table of pods. */
export const podText = {
  title: "Pods",
  none: "There are no pods. Either none are requested, or none could be created yet.",
  name: "Name",
  state: "State",
  image: "Image",
  restarts: "Restarts",
  age: "Age",
} as const;

/** The state of a pod. Other words come from Kubernetes. */
export const podStateText = {
  deleting: "Deleting",
  succeeded: "Succeeded",
  running: "Running",
  notReady: "Not ready",
} as const;

/** CPU and memory of pods. */
export const usageText = {
  cpu: "CPU",
  memory: "Memory",
  of: (limit: string) => `of ${limit}`,
  none: "CPU and memory are not shown: this cluster has no metrics API (metrics.k8s.io). A cluster administrator can install metrics-server.",
  forbidden:
    "You cannot view CPU and memory here: your roles do not allow you to list pods in metrics.k8s.io.",
  unavailable: "CPU and memory are not available right now: the metrics API does not answer.",
} as const;

/** The deletion of an object, and its confirmation. */
export const deletionText = {
  delete: "Delete",
  cancel: "Cancel",
  title: (kind: string, name: string) => `Delete ${kind} ${name}?`,
  final: "This cannot be undone.",
  /** Around the name of the object. */
  confirm: { before: "Type", after: "to confirm." },
  deleting: (kind: string, name: string) => `Deleting ${kind} ${name}.`,
} as const;
