/** Texts about PipeCD. */

/** The list of all kinds. */
export const listText = {
  title: "PipeCD",
  what: "PipeCD objects",
  none: "No PipeCD objects here yet",
  about:
    "A ControlPlane runs PipeCD's gateway, server, cache, and ops. Pipeds are its agents. Create them with kubectl from Denrei's samples:",
  anyNamespace: "<namespace>",
  sections: {
    planes: "Control planes",
    stores: "Stores",
    pipeds: "Pipeds",
    environments: "Environments",
    applications: "Applications",
    registrations: "Event registrations",
  },
} as const;

/** Labels of columns and facts. */
export const factText = {
  namespace: "Namespace",
  name: "Name in PipeCD",
  kind: "Kind",
  version: "Version",
  defaultVersion: "default",
  profile: "Profile",
  parts: "Parts",
  datastore: "Datastore",
  filestore: "Filestore",
  externalStore: "external",
  projects: "Projects",
  project: "Project",
  pods: "Pods",
  podsOf: (available: number) => `${available} of 1 available`,
  data: "Data",
  dataInPod: "deleted with the pod",
  dataInVolume: "in a volume claim",
  connection: "Connection",
  id: "ID",
  environment: "Environment",
  repositories: "Repositories",
  repository: "Repository",
  path: "Path",
  piped: "Piped",
  description: "Description",
  labels: "Labels",
  source: "Source",
  fixedSource: "Text",
  syncSource: (name: string) => `RemoteSync ${name}`,
  event: "Event",
  registered: "Registered",
} as const;

/** States that PipeCD reports. */
export const stateText = {
  connections: { ONLINE: "Online", OFFLINE: "Offline", UNKNOWN: "Unknown" },
  events: {
    NotHandled: "Not handled yet",
    Succeeded: "Succeeded",
    Failed: "Failed",
    Outdated: "Outdated",
  },
  noEvent: "None yet",
} as const;

/** The resource tree of an object. */
export const treeText = {
  noWorkloads: "No Deployments or StatefulSets.",
} as const;

const storeConsequence =
  "Its pod is deleted. Its data is deleted too, unless it is in a volume claim. The deletion waits while a ControlPlane uses the store.";

/** What the deletion of an object affects, by its kind. */
export const consequences: Readonly<Record<string, string>> = {
  EventRegistration: "It registers no more events. PipeCD keeps the registered ones.",
  Application: "PipeCD deletes it too.",
  Piped:
    "Its pod stops, PipeCD disables it, and its RBAC rights are removed. The deletion waits while it has Applications.",
  Environment: "The deletion waits while Pipeds or Applications use it.",
  ControlPlane:
    "Its gateway, server, cache, and ops are deleted, and so is a generated Secret with the encryption key. The deletion waits while Applications, Pipeds, or Environments need it.",
  Mysql: storeConsequence,
  Mongo: storeConsequence,
  Minio: storeConsequence,
};

/** The progress of a deletion. */
export const deletionText = {
  title: (namespace: string) => `Deletion in ${namespace}`,
  complete: "Deletion complete",
  steps: (done: number, all: number) => `${done} of ${all} steps done`,
  states: {
    gone: "Done",
    going: "In progress",
    waiting: "Waiting",
    stalled: "Stalled",
    kept: "Blocking",
  },
  deleted: "deleted",
  stages: {
    applications: { name: "Applications", does: "PipeCD deletes them too." },
    pipeds: {
      name: "Pipeds",
      does: "Their pods stop, PipeCD disables them, and their RBAC rights are removed.",
    },
    environments: {
      name: "Environments",
      does: "Only the objects are deleted: PipeCD has no environments, or cannot delete them.",
    },
    plane: { name: "Control plane", does: "Its gateway, server, cache, and ops are deleted too." },
    stores: { name: "Stores", does: "Their pods are deleted. Data in volume claims stays." },
  },
  waitsFor: {
    deletion: "Later steps wait until you delete it.",
    users: (users: readonly string[]) => `It waits for ${users.join(", ")}.`,
    dependents: "It waits for its dependents.",
    earlier: "It waits for earlier steps.",
    finalizers: (finalizers: readonly string[]) =>
      `It waits until its function removes ${finalizers.join(", ")}.`,
    stalled: (message: string) => `The deletion cannot continue: ${message}`,
  },
} as const;

const of = (component: string | undefined): string => (component === undefined ? "" : ` of ${component}`);

/** What a PipeCD object asks for, compared with what runs and with what PipeCD has registered. */
export const driftText = {
  configNotCompared: "The configuration is not compared: it is in a ConfigMap, which the page does not read.",
  empty: "empty",

  // States
  forbidden: "You cannot view Deployments and StatefulSets here, so the page cannot compare.",
  notLoaded: "The Deployments and StatefulSets are not loaded yet.",
  rollout: (workload: string, state: string) => `${workload}: ${state.toLowerCase()}.`,
  notRegistered: "PipeCD has not registered it yet.",

  // Settings
  name: "Name in PipeCD",
  description: "Description in PipeCD",
  project: "Project",
  pipedId: "ID of the Piped",
  repository: "Repository",
  path: "Path",
  configFile: "Configuration file",
  provider: "Provider",
  targets: "Deploy targets",
  pods: (component: string | undefined) => `Pods${of(component)}`,
  version: (component: string | undefined) => `Version${of(component)}`,
  volume: (path: string, component: string | undefined) => `Volume at ${path}${of(component)}`,
} as const;
