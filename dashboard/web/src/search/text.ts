/** Texts of the search. */

/** The dialog. */
export const paletteText = {
  title: "Search",
  label: "Search objects, screens, and actions",
  hint: "Objects, screens, and actions",
  close: "Close",
  results: "Results",
  loading: "Loading objects…",
  count: (count: number) =>
    count === 0 ? "No results" : `${count.toLocaleString("en")} ${count === 1 ? "result" : "results"}`,
  /** Beside the name of a group that shows only its best results. */
  more: (count: number) => `${count.toLocaleString("en")} more, not shown`,
  notSearched: (kinds: readonly string[], namespace: string) =>
    `Not searched, because you cannot list them in ${namespace || "all namespaces"}: ${kinds.join(", ")}.`,
  away: (kinds: readonly string[]) =>
    `Possibly incomplete, because Kubernetes does not respond: ${kinds.join(", ")}.`,
};

/** Names of groups of results. Groups of objects have the names of their kinds. */
export const groupText = {
  visited: "Recently visited",
  tabs: "This screen",
  screens: "Screens",
  actions: "Actions",
  namespaces: "Namespaces",
};

/** Names of kinds. */
export const kindText = {
  applications: "Applications",
  remoteSyncs: "RemoteSyncs",
  appPipelines: "AppPipelines",
  previews: "Previews of pull requests",
  installations: "Installations",
  hikawas: "Hikawas",
  /** PipeCD has kinds with the names of others. */
  pipecd: (kind: string) => `PipeCD ${kind}s`,
  allOfPipecd: "all PipeCD kinds",
  inNamespace: (kind: string, namespace: string) => `${kind} in ${namespace}`,
};

/** Results that are no objects. */
export const actionText = {
  create: (kind: string) => `Create ${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`,
  switchTo: (namespace: string) => (namespace === "" ? "Switch to all namespaces" : `Switch to ${namespace}`),
  themes: { system: "Use the system's theme", light: "Use the light theme", dark: "Use the dark theme" },
  logOut: "Log out",
};

/** A preview of a pull request. */
export const previewText = {
  name: (number: number, branch: string | undefined) => (branch ? `#${number} ${branch}` : `#${number}`),
  of: (pipeline: string) => `preview of ${pipeline}`,
};
