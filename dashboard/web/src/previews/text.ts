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
  deleting: "Deleting",
  creating: "Creating",
  excluded: "A user deleted this preview. New commits do not create it again.",
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
  paused: (number: number) => `#${number} cannot be built again: its RemoteSync is paused.`,
  goingAway: (number: number) => `The objects of the preview of #${number} are being deleted.`,
  delete: "Delete",
  deleteTitle: (number: number) => `Delete the preview of #${number}?`,
  whatIsDeleted:
    "This deletes its Application, RemoteSync, pods, builds, and build logs. The pull request does not change.",
  howLong:
    "The preview stays deleted while the pull request is open, also after new commits, until you choose “Create preview again”.",
  deleting: (number: number) => `Deleting the preview of #${number}.`,
  createAgain: "Create preview again",
  for: (number: number) => ` for #${number}`,
  creating: (number: number) => `Creating the preview of #${number} again.`,
  cancel: "Cancel",
};
