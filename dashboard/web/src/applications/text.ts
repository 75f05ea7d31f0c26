/** Texts about Applications. */

/** The overview tab. */
export const overviewText = {
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
};

/** The resource tree. */
export const treeText = {
  buildsImage: "builds the image",
};

/** What an Application asks for, compared with what runs. */
export const driftText = {
  empty: "empty",
  and: ", ",

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
