/** Texts about previews. */

/** The list of AppPipelines. */
export const listText = {
  title: "Previews",
  kinds: "AppPipelines",
  create: "Preview a repository",
  none: "No AppPipelines here yet",
  about:
    "An AppPipeline builds and runs each open pull request of a repository at its own address, and reports the address to GitHub.",
  createFirst: "Preview the first repository",
};
export const columnText = { repository: "Repository", open: "Open", ready: "Ready", domain: "Domain" };

/** The actions of an AppPipeline. */
export const pipelineText = {
  refresh: "Refresh now",
  refreshing: "Listing the open pull requests again.",
  deletes: "All its previews are deleted too: their Applications, builds, and pods.",
};

/** The summary of an AppPipeline. */
export const summaryText = {
  title: "Summary",
  repository: "Repository",

  // Which pull requests get a preview
  pulls: "Pull requests",
  labeled: (labels: readonly string[]) => `labeled ${labels.join(" and ")}`,
  allOpen: "all open",
  targeting: (branches: readonly string[]) => `targeting ${branches.join(" or ")}`,
  noDrafts: "no drafts",
  forks: {
    Never: "no forks",
    Approved: "forks after approval of the commit",
    Always: "forks without approval",
  },
  withLabel: (label: string) => ` with the label ${label}`,
  without: (numbers: readonly number[]) => `without ${numbers.map((number) => `#${number}`).join(", ")}`,

  limit: "Limit",
  atOnce: (count: number) => `${count} ${count === 1 ? "preview" : "previews"} at once`,
  none: "none",
  lifetime: "Lifetime",
  untilClosed: "until the pull request is closed",
  orAfter: (ttl: string) => `, or ${ttl} after its last commit`,
  domain: "Domain",
  images: "Image repository",
  token: "GitHub token",
  secret: (name: string) => `Secret ${name}`,
  reports: "Reports to GitHub",
  commitStatus: "a commit status",
  deployment: "a deployment",
  comment: "a comment",
  listed: "Pull requests listed",
  notYet: "not yet",
  next: ", next time",
  atLatest: "at the latest",
  created: "Created",
};

/** The form. */
export const formText = {
  domainExample: "preview.example.com",
  labelExample: "preview-approved",
  folderExample: "services/web",
  title: "Preview a repository",
  domain: "Preview domain",
  domainHint: "Each preview gets a subdomain.",
  env: "Preview environment variables",

  // Filter
  filter: "Pull request filter",
  labels: "Labels",
  labelsHint: "One per line. A pull request must have all of them.",
  branches: "Target branches",
  branchesHint: "One per line. * matches any characters.",
  drafts: "Include drafts",
  forks: "Forks",
  forksChoices: [
    ["", "After approval (default)"],
    ["Approved", "After approval"],
    ["Never", "Never"],
    ["Always", "Always, which runs unreviewed code from strangers"],
  ],
  approvalLabel: "Approval label",
  approvalHint: "Approves the last commit, as an approving review does.",

  // Limits
  limits: "Limits",
  most: "Maximum number of previews",
  mostHint: "Further pull requests wait. No limit if empty.",
  ttl: "Lifetime after the last commit",
  ttlHint: "Such as 72h or 7d. If empty, previews stay until the pull request is closed.",
  poll: "Poll interval",
  pollHint: "How often to list pull requests, in addition to webhooks.",

  // Reports
  reports: "Reports to GitHub",
  commitStatus: "Commit status",
  comment: "Pull request comment",
  deployment: "Deployment",

  // More
  more: "port, pods, folder, build settings",
  port: "Port",
  portHint: "The port that previews listen on. Defaults to 8080.",
  pods: "Pods per preview",
  folder: "Repository folder",
  commit: "Commit to build",
  buildEnv: "Build environment variables",
} as const;

/** The reports of an AppPipeline to GitHub. */
export const reportText = {
  title: "Reports to GitHub",
  context: "Commit statuses have the context",
  unsent: "Some reports are not sent yet. Next attempt:",
  none: "None yet.",
  statusOf: "Status of",
  pending: "set, still pending.",
  set: "Status of the last commit set.",
  deploymentOf: "Deployment of",
  created: "created.",
  comment: "Comment",
  posted: "posted.",
  refused: "Refused",
  rejected: (piece: string) => `GitHub rejected ${piece}. Next attempt:`,
  pieces: {
    commitStatus: "the commit status",
    deployment: "the deployment",
    comment: "the comment",
  } as Readonly<Record<string, string>>,
};

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
