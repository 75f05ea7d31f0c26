/** Texts about builds. */

/** The list of RemoteSyncs. */
export const listText = {
  title: "Builds",
  create: "Build a repository",
  none: "No RemoteSyncs here yet",
  about:
    "A RemoteSync builds an Application's image from a branch, pull request, or commit, and rebuilds it for each new commit.",
  createFirst: "Build the first repository",
  columns: {
    application: "Application",
    repository: "Repository",
    revision: "Revision",
    build: "Build",
  },
  noBuild: "none yet",
} as const;

/** Plural of the kind, for the search. */
export const kindsText = "RemoteSyncs";

/** The buttons of a RemoteSync, and their notices. */
export const actionText = {
  refresh: "Refresh now",
  refreshing: "Checking GitHub for a newer commit.",
  pause: "Pause",
  paused: (name: string) => `Paused ${name}.`,
  resume: "Resume",
  resumed: (name: string) => `Resumed ${name}.`,
  rebuild: "Build again",
  rebuilding: (build: number) => `Building the commit of build ${build} again.`,
  consequence: (application: string) =>
    `Its builds and their logs are deleted too. ${application} keeps running its current image.`,
} as const;

/** The summary of a RemoteSync. */
export const factText = {
  title: "Summary",
  application: "Application",
  repository: "Repository",
  source: "Source",
  commits: { Head: ", its last commit", Merge: ", as merged" },
  target: (branch: string) => `, targeting ${branch}`,
  revision: "Revision",
  noRevision: "not known yet",
  image: "Newest image",
  noImage: "none yet",
  imageRepository: "Image repository",
  imageSecret: (name: string) => `, Secret ${name}`,
  token: "GitHub token",
  secret: (name: string) => `Secret ${name}`,
  builder: "Builder",
  variables: "Build variables",
  created: "Created",
} as const;

/** Words before the name of what is followed. */
export const repositoryText = {
  folder: ", folder",
  commit: "commit",
  pullRequest: "pull request",
  branch: "branch",
  defaultBranch: (name: string | undefined) => (name ? `default branch (${name})` : "default branch"),
} as const;

/** The list of builds. */
export const buildsText = {
  title: "Builds",
  noKpack: "kpack is not installed in this cluster, so builds cannot run.",
  installKpack: "Read how to install it",
  none: "No builds yet",
  whyNone: "A build starts when the commit is known.",
  notReady: (why: string) => `The RemoteSync is not ready: ${why}`,
  columns: {
    build: "Build",
    result: "Result",
    reason: "Reason",
    revision: "Revision",
    duration: "Duration",
    image: "Image",
    started: "Started",
  },
  /** After the number of a build, for screen readers. */
  stepByStep: " step by step",
  results: { succeeded: "Succeeded", failed: "Failed", waiting: "Waiting", running: "Running" },
  /** Why kpack started a build. */
  reasons: {
    CONFIG: "changed settings",
    COMMIT: "new commit",
    BUILDPACK: "new buildpacks",
    STACK: "new stack",
    TRIGGER: "requested",
  } as Readonly<Record<string, string>>,
  /** In the logs of an Application. */
  notBuilt: (name: string) => `${name} has not been built yet.`,
  all: (name: string) => `All builds of ${name}`,
} as const;

/** The steps of a build. */
export const stepsText = {
  title: (build: number) => `Build ${build}, step by step`,
  failed: "This build failed.",
  done: "Done",
  failedWith: (exitCode: number) => `Failed with exit code ${exitCode}`,
  running: "Running",
  notRun: "Not run",
  waiting: "Waiting",
  log: (step: string, pod: string) => `${step} in ${pod}`,
} as const;

/** Why a build shows no steps. */
export const withoutPodText = {
  forbidden: "You cannot view the pods of this build.",
  notCreated: "Its pod has not been created yet.",
  loading: "Looking for its pod…",
  unknown: "Its pod is not in the last known state.",
  gone: "Its pod no longer exists, so there is no log.",
  completed: (steps: readonly string[]) => `Completed steps: ${steps.join(", ")}.`,
} as const;

/** The last failure: `web-build-2 of 0123456 failed in the step build, 3 minutes ago: …`. */
export const failureText = {
  title: "Last failure",
  of: "of",
  failed: "failed",
  inStep: "in the step",
  log: "End of its log",
  logOf: (step: string) => `End of the log of ${step}`,
} as const;

/** The form for RemoteSyncs. */
export const formText = {
  title: listText.create,
  application: "Application",
  applicationExample: "web",
  applicationHint: "The Application in the same namespace that runs the image.",
  source: "Source",
  sources: {
    default: "The default branch",
    branch: "A branch",
    pullRequest: "A pull request",
    sha: "A commit",
  },
  problems: {
    sha: "Enter a full commit ID of 40 hexadecimal digits.",
    pullRequest: "Enter the number of a pull request.",
    branch: "Enter the name of a branch.",
  },
  branch: "Branch",
  branchExample: "main",
  pullRequest: "Pull request number",
  commitToBuild: "Commit to build",
  commit: "Commit",
  commitExample: "0123456789abcdef0123456789abcdef01234567",
  commitHint: "The full ID: 40 hexadecimal digits.",
  variables: "Build environment variables",
  more: "folder, builder, build resources, timeout",
  folder: "Repository folder",
  folderExample: "services/web",
  folderHint: "Defaults to the whole repository.",
} as const;

/** The fields that the forms of RemoteSyncs and AppPipelines share. */
export const fieldText = {
  commits: {
    "": "Merge result (default)",
    Merge: "Merge result",
    Head: "Last commit",
  },
  image: "Image repository",
  imageExample: "registry.example.com/acme/web",
  imageHint: "A repository in a registry, without a tag.",
  imageSecret: "Registry credentials Secret",
  imageSecretHint: "Used to push and pull. Leave empty if the registry needs no credentials.",
  builder: "Builder",
  builderHint: "The kpack builder that turns sources into images.",
  builders: {
    "": "The site's builder (default)",
    ClusterBuilder: "ClusterBuilder (cluster-wide)",
    Builder: "Builder (this namespace)",
  },
  builderName: "Builder name",
  builderExample: "default",
  requests: "Build resource requests",
  requestsHint: "cpu: 100m, memory: 512Mi",
  limits: "Build resource limits",
  limitsHint: "memory: 2Gi",
  cache: "Build cache size",
  cacheExample: "2G",
  cacheHint: "Size of the volume that builds share as a cache. If empty, kpack chooses it.",
  timeout: "Build timeout in seconds",
} as const;
