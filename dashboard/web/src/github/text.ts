/** Texts of the GitHub screens. */

/** The list of Installations and Apps. */
export const listText = {
  title: "GitHub",
  create: "Create an Installation",
  none: "No Installations here yet",
  about:
    "An Installation keeps a GitHub App's token in a Secret and renews it before it expires. Builds read repositories with it.",
  createFirst: "Create the first one",
  kinds: "Installations",
  installation: (id: number) => `installation ${id}`,
  nextRefresh: "next refresh",
  columns: {
    app: "App",
    repositories: "Repositories",
    secret: "Secret",
    expires: "Token expires",
    appId: "App ID",
    onGitHub: "Page on GitHub",
    rules: "Rules",
  },
  rules: (count: number) => `${count} in spec.allowed`,
  noRules: "none",
  apps: {
    title: "GitHubApps",
    none: "No GitHubApps here.",
    refused: "You cannot list them.",
    create: "Create a GitHub App",
  },
  clusterApps: {
    title: "ClusterGitHubApps",
    none: "No ClusterGitHubApps.",
    refused:
      "You cannot list ClusterGitHubApps. An Installation can still use one that allows its namespace: ask a cluster administrator for its name.",
  },
  notAvailable: "The list is not available.",
} as const;

/** An Installation in words. */
export const factsText = {
  allRepositories: "all of the installation",
  ids: (ids: readonly number[]) => `IDs ${ids.join(", ")}`,
  allPermissions: "all permissions of the installation",
} as const;

/** The screen of an Installation. */
export const installationText = {
  consequence: (secret: string) =>
    `The Secret ${secret} is deleted too, and builds that use its token stop working.`,
  token: "Token",
  expiresIn: "Expires in",
  expired: (span: string) => `Expired ${span} ago`,
  nextRefresh: "Next refresh",
  secret: "Secret",
  format: "Format",
  key: "Key",
  registry: "Registry",
  repositories: "Repositories",
  permissions: "Permissions",
  installation: "Installation",
  namespace: "Namespace",
  app: "App",
  created: "Created",
  error: "Error",
} as const;

/** The connection of the user's account. */
export const connectionText = {
  title: "Connect GitHub first",
  why: "You can create tokens only for installations and repositories that you can see on GitHub. To check this, the dashboard queries GitHub on your behalf, and GitHub asks for your consent.",
  connect: "Connect GitHub",
  toGetSuggestions: " to get suggestions.",
  connectedAs: "Connected to GitHub as",
  none: "You cannot create Installations here: this dashboard cannot check which repositories you can see on GitHub. Its operator can set",
  noneUntilThen: "Until then, create a GitHub App of your own, or use kubectl.",
  away: (message: string) => `Installations and repositories cannot be suggested right now. ${message}`,
  refused: "You did not give consent at GitHub, so your account is not connected.",
  failed: "GitHub was not connected. Try again. If it keeps failing, see the dashboard's log.",
} as const;

/** The form for an Installation. */
export const formText = {
  registryExample: "ghcr.io",
  title: "Create an Installation",
  noApp: "Do you need a new App?",
  createApp: "Create a GitHub App",
  created: (name: string) => `Created Installation ${name}.`,
  create: "Create",
  cancel: "Cancel",
  name: "Name",
  nameHint: "Also the name of the Secret.",
  namespace: "Target namespace",
  appKind: "App kind",
  appKinds: {
    ClusterGitHubApp: "ClusterGitHubApp (cluster-wide)",
    GitHubApp: "GitHubApp (this namespace)",
  },
  app: "App",
  clusterAppHint: "It must allow this namespace. Ask a cluster administrator for its name.",
  namespacedAppHint: "A GitHubApp in the same namespace.",
  installation: "GitHub installation",
  chooseInstallation: "Choose one",
  noInstallation: "You have no installation of the App. Install it for one of your accounts first.",
  installationId: "The ID: the number at the end of the address of the installation's settings.",
  installedOn: (account: string) => `The installation on ${account}, as GitHub reported it.`,
  format: "Format",
  formats: {
    "basic-auth": "basic-auth: username and password, for git",
    dockerconfigjson: "dockerconfigjson: for pulling images",
    raw: "raw: the token alone",
  },
  key: "Key",
  keyHint: "The key of the Secret that holds the token.",
  registry: "Registry",
  gitHost: "Git host",
  gitHostHint: "The host from which kpack clones with this token. If empty, builds do not use the token.",
} as const;

/** The repositories and permissions of a token. */
export const scopeText = {
  repositories: "Repositories",
  repositoriesOf: {
    own: (account: string) =>
      `If empty, the token covers all repositories of ${account}, including future ones.`,
    other: (account: string) =>
      `Choose at least one: ${account} is not your own account, so the token cannot cover all repositories.`,
    unknown: "Enter at least one, unless the installation is of your own account.",
    held: "If empty, the token covers all repositories of the installation.",
  },
  namesOfRepositories: "One name per line, without the owner.",
  loading: "Loading repositories from GitHub…",
  chosen: (chosen: number, all: number) => `${chosen} of ${all} chosen.`,
  findLabel: "Find a repository by name",
  find: "Find by name",
  private: "private",
  noMatches: "No matches.",
  permissions: "Permissions",
  permissionsHint:
    "If all are none, the token has all permissions of the installation. An App can allow less.",
  permissionNames: {
    contents: "Contents",
    pull_requests: "Pull requests",
    statuses: "Commit statuses",
    deployments: "Deployments",
    checks: "Checks",
    packages: "Packages",
    issues: "Issues",
    metadata: "Metadata",
  },
  none: "none",
  read: "read",
  write: "write",
} as const;

/** The fields for a repository in other forms. */
export const repositoryText = {
  ownerExample: "acme",
  repositoryExample: "web",
  owner: "Repository owner",
  repository: "Repository",
  repositoryHint: "The name without the owner.",
  secret: "GitHub token Secret",
  secretHint: "The Secret of an Installation with the format basic-auth, annotated with kpack.io/git.",
} as const;

/** The form that creates a GitHub App. */
export const newAppText = {
  title: "Create a GitHub App",
  about:
    "The dashboard fills in what the platform needs. GitHub asks you to confirm, and then sends you back here. The keys of the App go into Secrets of your namespace, with your own rights.",
  haveApp: "Do you have an App already?",
  useApp: "Create an Installation",
  github: "GitHub",
  namespace: "Namespace",
  namespaceHint: "The GitHubApp and the Secret with its key are created here.",
  name: "Name",
  nameHint: "The name of the GitHubApp. GitHub proposes it for the App, and you can change it there.",
  organization: "Organization",
  organizationHint:
    "The organization that owns the App. Leave it empty to use your own account. The App can be installed only on the account that owns it.",
  gateway: "Address of the gateways",
  gatewayHint:
    "The public web address at which GitHub reaches the platform's webhook gateways. Ask your operator. If empty, the App has no webhooks, and the platform notices changes within five minutes.",
  gatewayExample: "https://hooks.example.com",
  webhooksTo: "Webhooks go to",
  secretKept:
    "Your roles do not allow you to change the Secret of the gateways. The webhook secret is kept with the private key, and the next screen says how an operator gives it to the gateways.",
  permissionsTitle: "What the App may do",
  permissions: {
    contents: "for builds",
    deployments: "for deployments of previews",
    metadata: "for names of repositories, as with every App",
    pull_requests: "for previews and comments",
    statuses: "for the results of builds",
  },
  events: "Events:",
  noEvents: "none, without an address of the gateways",
  continue: "Continue to GitHub",
  cancel: "Cancel",
  outcomes: {
    session:
      "An App that you created on GitHub was not stored: it was not started in this session, you started another one since, or it took more than an hour. Delete the App on GitHub and start again, or generate a private key on its page and store it with kubectl.",
    code: "GitHub did not give the keys of the App: its code is used or expired. Delete the App on GitHub and start again, or generate a private key on its page and store it with kubectl.",
    unavailable: "GitHub created the App, but does not answer. Its keys can be fetched for an hour.",
    unstored: "GitHub created the App, but its keys could not be stored.",
  },
} as const;

/** An App whose keys are not stored yet. */
export const unstoredText = {
  reason: "The request failed:",
  title: (name: string) => `The keys of ${name} are not stored yet`,
  about: (namespace: string) =>
    `GitHub created the App and gives its keys only once. The dashboard keeps what it has, encrypted in your session, and can still store it in ${namespace}.`,
  until: "It is forgotten in",
  store: "Store the keys",
  discard: "Discard the keys",
  discarded:
    "The keys are discarded. You can generate a new private key on the page of the App, or delete the App.",
  settings: "Settings of the App on GitHub",
} as const;

/** The screen of a GitHubApp. */
export const appText = {
  onGitHub: "App on GitHub",
  keySecret: "Secret with the key",
  appId: "App ID",
  install: "Install the App",
  installTitle: "Install it on an account",
  installWhy:
    "The App sees no repository until you install it. GitHub asks on which account and for which repositories, and then sends you back to create the Installation.",
  notReachable: "GitHub gave no information about this App.",
  handOverTitle: "Give the webhook secret to the gateways",
  handOverWhy:
    "The gateways refuse the webhooks of this App until they know its secret. An operator can copy it to them with this command. GitHub keeps refused webhooks for three days, and the platform requests them again.",
  copy: "Copy the command",
} as const;

/** The screen after an App was installed. */
export const installedText = {
  title: "Create the Installation",
  about: (app: string, account: string) =>
    `${app} is installed on ${account}. Check the values and create the Installation.`,
  requested:
    "You asked the owner of the account to install the App. After the approval, open the GitHubApp and install it again to create the Installation.",
  noInstallation: "GitHub sent no installation. Open the GitHubApp and install it again.",
  notConfirmed: "GitHub did not confirm this installation of the App.",
  toApp: "Open the GitHubApp",
} as const;
