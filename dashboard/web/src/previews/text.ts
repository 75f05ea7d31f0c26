/** Texts about previews. */

/** The list of an AppPipeline's previews. */
export const previewsText = {
  title: "Pull requests",
  /** Plural noun for the filter. */
  what: "previews",
  notListed: "The open pull requests have not been listed yet.",
  none: (repository: string) =>
    `No open pull request of ${repository} matches the filter. New ones appear here.`,
  columns: {
    pull: "Pull request",
    status: "Status",
    address: "Address",
    updated: "Updated",
    opened: "Opened",
    actions: "Actions",
  },
  by: "by",
  fork: "from a fork:",
  newerCommit: "The newer commit",
  notApproved: "is not approved yet.",
  pods: (ready: number, wanted: number) =>
    wanted === 0 ? "0 pods: scaled to zero" : `${ready} of ${wanted} ${wanted === 1 ? "pod" : "pods"} ready`,
  application: "Application",
  build: "Build",
  of: (number: number) => ` of #${number}`,
};

/** The actions of a preview. */
export const actionText = {
  open: "Open",
  preview: (number: number) => ` the preview of #${number}`,
  rebuild: "Rebuild",
  rebuilding: (number: number, build: number) =>
    `Building the commit of build ${build} of #${number} again. The preview keeps running until the build ends.`,
  noBuild: (number: number) => `#${number} has no build yet. The first one starts without a request.`,
  alreadyBuilding: (number: number) => `A build of #${number} already runs or is requested.`,
  recreate: "Recreate",
  recreateTitle: (number: number) => `Recreate the preview of #${number}?`,
  recreateWhat:
    "Its Application, RemoteSync, pods, builds, and build logs are deleted, and then created again. The address stays the same, and does not respond until the new build is deployed.",
  howToDelete: (labels: readonly string[]) =>
    `A preview exists as long as its pull request is open and matches the filter. To delete it, close the pull request on GitHub${
      labels.length === 0 ? "" : `, or remove its label ${labels.join(" or ")}`
    }.`,
  recreating: (number: number) => `Recreating the preview of #${number}.`,
  cancel: "Cancel",
};
