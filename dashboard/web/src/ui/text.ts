/** Texts that the first screen needs, or that load with its modules. Those of other screens are in the catalogs of folders. */

/** The title of the window. */
export const windowText = {
  title: (screen: string) => `${screen} · Denrei`,
};

/** The login, and a session that has ended. */
export const loginText = {
  product: "Denrei",
  about: "Deploy applications, follow their builds and previews, and watch the bus.",
  logIn: "Log in",
  failed: "Login failed.",
  /** By the parameter `why` with which the server redirects. */
  reasons: new Map([
    ["denied", "You canceled the login, or the identity provider denied it."],
    [
      "interrupted",
      "The login took too long, or you started another one. Check that your browser accepts cookies, and try again.",
    ],
    ["issuer-unavailable", "The identity provider does not respond. Try again in a few minutes."],
    ["bus-unavailable", "The dashboard cannot store sessions right now. Try again in a few minutes."],
  ]),
  otherReason:
    "Try again. If the login keeps failing, an operator can find the reason in the dashboard's log.",
  unreachable: "The dashboard does not respond. Your session stays valid.",
  retry: "Try again",
  ended: "Your session has ended.",
  logInAgain: "Log in again",
};

/** Notices at the edge of the page. */
export const noticeText = {
  requestFailed: "The request failed:",
  close: "Close",
};

/** The choice of the theme. */
export const themeText = {
  label: "Appearance",
  themes: { system: "System", light: "Light", dark: "Dark" },
};

/** Times relative to now. */
export const ageText = {
  ago: (span: string) => `${span} ago`,
  ahead: (span: string) => `in ${span}`,
};

/** The health of objects and pods. Other words come from Kubernetes. */
export const healthText = {
  deleting: "Deleting",
  stalled: "Stalled",
  waiting: "Waiting",
  updating: "Updating",
  ready: "Ready",
  paused: "Paused",
};

/** Content that is loading, stale, unreachable, or missing. */
export const statesText = {
  loading: "Loading…",
  slow: "Kubernetes has not answered yet. The page keeps waiting.",
  kubernetesError: "Kubernetes responded with an error:",
  interrupted: "Live updates are interrupted.",
  lastKnown: "This is the last known state, from",
  sessionEnded: "Your session has ended. Log in again to continue.",
  notLoaded: "This could not be loaded",
  retrying: "The page tries again every few seconds.",
  retry: "Try again",
  notFound: (kind: string, name: string) => `${kind} ${name} not found`,
  neverSeen: "There is no object with this name in this namespace. It may have been deleted.",
  deleted: (kind: string, name: string) => `${kind} ${name} was deleted`,
  lastSeen: "It was last seen",
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
  pageNotFound: "Page not found",
  noSuchPage: "No screen has this address.",
  applications: "Applications",
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
  },
  all: (count: number, what: string) => `${count} ${what}`,
  some: (count: number, all: number, what: string) => `${count} of ${all} ${what}`,
  none: (what: string) => `No ${what} match`,
  words: (words: string) => `the text “${words}”`,
  statuses: (labels: readonly string[]) => `the status “${labels.join("” or “")}”`,
  and: " and ",
  clear: "Clear filters",
  sortBy: "Sort by",
  name: "Name",
  health: "Health",
  created: "Created",
};

/** Texts of copy buttons. */
export const copyText = {
  copied: "Copied",
  /** Shown where the browser has no clipboard for the page: it has selected the text. */
  selected: "Selected",
  copyImage: (image: string) => `Copy ${image}`,
};

/** Messages in the words of Kubernetes or a server. */
export const detailsText = {
  summary: "Details",
};
