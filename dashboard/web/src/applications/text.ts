/** Texts about Applications. */

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** The list. */
export const listText = {
  title: "Applications",
  kinds: "Applications",
  create: "Create an Application",
  none: "No Applications here yet",
  about: "An Application runs an image and serves it at its hosts.",
  createFirst: "Create the first one",
};
export const columnText = { address: "Address", image: "Image", pods: "Pods" };

/** The tabs of an Application's screen. */
export const tabText = { logs: "Logs", history: "History" };

/** The actions of an Application. */
export const actionText = {
  scale: "Scale",
  scaleTitle: (name: string) => `Scale ${name}`,
  podCount: "Number of pods",
  noPods: "Without pods, its hosts do not respond.",
  scaling: (name: string, replicas: number) => `Scaling ${name} to ${plural(replicas, "pod")}.`,
  restart: "Restart",
  nothingToRestart: "This Application has no Deployment to restart.",
  restarting: (name: string) => `Restarting ${name}, one pod at a time.`,
  deletes: "Its pods stop, its resources are deleted, and its hosts no longer respond.",
  cancel: "Cancel",
};

/** The form. */
export const formText = {
  imageExample: "registry.example.com/team/web:1.0",
  healthExample: "/healthz",
  title: "Create an Application",
  hosts: "Hosts",
  hostsHint: "One per line, such as web.example.com or *.example.com.",
  image: "Image",
  imageHint: "If empty, visitors see a placeholder page. A RemoteSync sets this field after each build.",
  env: "Environment variables",
  envFrom: "Variables from Secrets and ConfigMaps",
  pods: "Pods",
  port: "Port",
  portHint: "The port that the application listens on, also passed as PORT. Defaults to 8080.",
  more: "command, health check, resources, attributes",
  command: "Command",
  commandHint: "One word per line. Defaults to the image's command.",
  args: "Arguments",
  argsHint: "One per line.",
  healthPath: "Health check path",
  healthHint: "Must return 200 if the application is healthy. Defaults to a TCP check of the port.",
  requests: "Resource requests",
  requestsHint: "cpu: 100m, memory: 128Mi",
  limits: "Resource limits",
  attributes: "Attributes",
  attributesHint: "Chart parameters.",
  pullSecret: "Image pull Secret",
  serviceAccount: "Pod ServiceAccount",
};

/** The overview tab. */
export const overviewText = {
  summary: "Summary",
  address: "Address",
  image: "Image",
  noImage: "none yet",
  pods: "Pods",
  podsReady: (ready: number, wanted: number) => `${ready} of ${wanted} ready`,
  builtFrom: "Built from",
  created: "Created",
  noRepository: "no repository: the image is set by hand",
  buildsForbidden: "unknown: you cannot list RemoteSyncs here",
  buildsUnknown: "not loaded yet",
};

/** Images, rollbacks, and the pin that a rollback sets. */
export const imageText = {
  pinnedTo: "Pinned to",
  othersNotDeployed: "Other images are not deployed, neither new builds nor a changed image in the settings.",
  deployNewest: "Deploy the newest image",
  deployingNewest: (name: string) => `Deploying the newest image of ${name}.`,
  rollBackTitle: (name: string) => `Roll ${name} back?`,
  deployTitle: (name: string) => `Deploy another image of ${name}?`,
  podsWillRun: "Its pods will run",
  oneAtATime: ", one at a time. The image stays pinned until you deploy the newest one.",
  deploying: (image: string) => `Deploying ${image}.`,
  fieldWhilePinned: "Saving this image does not deploy it while another one is pinned.",
  endPin: "End the pin",

  // History
  none: "No images yet",
  noneYet: "Images that ran on all pods appear here. You can roll back to any of them.",
  columns: { image: "Image", revision: "Revision", since: "Since", actions: "Actions" },
  running: "Running",
  rollBack: "Roll back",
  rollBackTo: (image: string) => ` to ${image}`,
  deploy: "Deploy",
  busHistory: "Show its history on the bus",
  cancel: "Cancel",
};

/** The resource tree. */
export const treeText = {
  buildsImage: "builds the image",
};

/** What an Application asks for, compared with what runs. */
export const driftText = {
  empty: "empty",
  and: ", ",
  deployment: (name: string) => `Deployment ${name}`,
  secret: (name: string) => `Secret ${name}`,
  configMap: (name: string) => `ConfigMap ${name}`,

  // States
  nothingYet: "Nothing runs yet.",
  noDeployment: "The chart creates no Deployment to compare with.",
  otherName: (name: string) =>
    `The page compares only a Deployment with the name of the Application, not ${name}.`,
  forbidden: "You cannot view Deployments here, so the page cannot compare.",
  notLoaded: "The Deployment is not loaded yet.",
  rolloutFailed: (message: string) => `The rollout failed: ${message}`,
  rollingOut: (updated: number, desired: number) =>
    `Rolling out: ${updated} of ${desired} pods run the new version.`,
  waiting: (message: string) => `Rolling out: ${message}.`,
  pinned: "The Application is pinned to",

  // Settings
  image: "Image",
  pods: "Pods",
  command: "Command",
  args: "Arguments",
  port: "Port",
  sources: "Variables from Secrets and ConfigMaps",
  variable: (name: string) => `Variable ${name}`,
  requests: (name: string) => `Request of ${name}`,
  limits: (name: string) => `Limit of ${name}`,
  keyOf: (kind: string, name: string, key: string) => `key ${key} of ${kind} ${name}`,
  withPrefix: (source: string, prefix: string) => `${source} with the prefix ${prefix}`,
};
