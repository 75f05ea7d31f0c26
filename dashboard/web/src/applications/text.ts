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
