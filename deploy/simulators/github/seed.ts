/** Initial content of the simulated GitHub: accounts, repositories, Apps, and installations. */
import type { SeedConfig } from "emulate";

/** An installation of an App. */
export interface InstallationOptions {
  /** Defaults to the next number from 50000001. */
  readonly id?: number;
  /** The login of the organization. */
  readonly account: string;
  /** Full names. Defaults to all repositories of the account. */
  readonly repositories?: readonly string[] | "all";
}

/** A GitHub App; every field has a default. */
export interface AppOptions {
  /** Defaults to the next number from 100001. */
  readonly id?: number;
  /** Defaults to `denrei`, `denrei-2`, … */
  readonly slug?: string;
  readonly webhookSecret?: string;
  /** Permissions of the App. Defaults to {@link defaultPermissions}. */
  readonly permissions?: Readonly<Record<string, "read" | "write">>;
  /** Webhook events that the App subscribes to. Defaults to {@link defaultEvents}. */
  readonly events?: readonly string[];
  /** Redirect URLs for people who authorize the App. Defaults to none. */
  readonly callbackUrls?: readonly string[];
  /** Defaults to one installation per account. */
  readonly installations?: readonly InstallationOptions[];
}

/** Options for the initial content. */
export interface SeedOptions {
  /** Full names. The repositories are private, since a public one can be read without a token. Defaults to `acme/web`. */
  readonly repositories?: readonly string[];
  /** Defaults to one App that is installed everywhere. */
  readonly apps?: readonly AppOptions[];
}

/** {@link SeedOptions} with defaults filled in. */
export interface Seed {
  readonly repositories: readonly string[];
  /** Apps that people create are added. */
  readonly apps: SeededApp[];
}

/** {@link AppOptions} with defaults filled in. */
export interface SeededApp extends Required<AppOptions> {
  readonly installations: readonly Required<InstallationOptions>[];
  /** URL of its webhooks; null for an App without webhooks. Defaults to the common targets. */
  readonly hookUrl?: string | null;
}

/** An installation of the hidden App. */
export interface HiddenInstallation {
  readonly id: number;
  readonly account: string;
}

/** The App behind the Apps that people create (`createdapps.ts`). It is installed on all accounts, and gets all events. */
export const hiddenApp = { id: 900_000, slug: "behind-created-apps" } as const;
const firstHiddenInstallation = 60_000_001;

/** Permissions that a platform's App requests. */
export const defaultPermissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "write",
  deployments: "write",
} as const;

/** Events that such an App subscribes to. Every App also gets the events about its installations. */
export const defaultEvents = [
  "push",
  "pull_request",
  "create",
  "delete",
  "issue_comment",
  "repository",
  "check_run",
  "check_suite",
] as const;

/** The user that tests act as, a member of all accounts. `emulate` allows 5000 requests per hour and token. */
export const user = {
  login: "octocat",
  tokens: Array.from({ length: 50 }, (_, index) => `ghp_octocat_${index}`),
};

/** Fills in defaults. */
export function withDefaults({ repositories = ["acme/web"], apps = [{}] }: SeedOptions): Seed {
  const accounts = accountsOf(repositories, apps);
  let installations = 50_000_000;
  return {
    repositories,
    apps: apps.map((app, index) => {
      const { id = 100_001 + index, slug = index === 0 ? "denrei" : `denrei-${index + 1}` } = app;
      return {
        webhookSecret: `the webhook secret of ${slug}`,
        permissions: defaultPermissions,
        events: defaultEvents,
        callbackUrls: [],
        ...app,
        id,
        slug,
        installations: (app.installations ?? accounts.map((account) => ({ account }))).map(
          (installation) => ({
            id: ++installations,
            repositories: "all" as const,
            ...installation,
          }),
        ),
      };
    }),
  };
}

/** Permissions that the hidden App can pass on. */
const allPermissions = Object.fromEntries(
  [...Object.keys(defaultPermissions), "actions", "administration", "members", "packages", "workflows"].map(
    (name) => [name, "write"],
  ),
);

/** The installations of the hidden App. */
export const hiddenInstallations = ({ repositories, apps }: Seed): readonly HiddenInstallation[] =>
  [...new Set([...accountsOf(repositories, apps), user.login])].map((account, at) => ({
    account,
    id: firstHiddenInstallation + at,
  }));

/** Converts a seed to the configuration of the package `emulate`; webhooks of an App go to `hookUrl`. */
export function seedConfig(seed: Seed, hookUrl: (app: number) => string): SeedConfig {
  const { repositories, apps } = seed;
  return {
    tokens: Object.fromEntries(
      user.tokens.map((token) => [token, { login: user.login, scopes: ["repo", "admin:org"] }]),
    ),
    github: {
      users: [{ login: user.login, email: `${user.login}@example.com` }],
      orgs: accountsOf(repositories, apps).map((login) => ({
        login,
        members: [{ login: user.login, role: "admin" }],
      })),
      repos: repositories.map((name) => {
        const [owner, ...rest] = name.split("/");
        return { owner, name: rest.join("/"), private: true };
      }),
      apps: [...apps.map((app) => appConfig(app, hookUrl)), hiddenConfig(seed, hookUrl)],
    },
  };
}

function appConfig(app: SeededApp, hookUrl: (app: number) => string) {
  return {
    app_id: app.id,
    slug: app.slug,
    name: app.slug,
    permissions: app.permissions,
    events: app.events,
    webhook_url: hookUrl(app.id),
    webhook_secret: app.webhookSecret,
    installations: app.installations.map(({ id, account, repositories }) => ({
      installation_id: id,
      account,
      ...(repositories === "all"
        ? { repository_selection: "all" }
        : { repository_selection: "selected", repositories }),
    })),
  };
}

/** The last App, so that `emulate` finds the others first. */
function hiddenConfig(seed: Seed, hookUrl: (app: number) => string) {
  const { id, slug } = hiddenApp;
  return {
    ...{ app_id: id, slug, name: slug, permissions: allPermissions, events: ["*"] },
    webhook_url: hookUrl(id),
    installations: hiddenInstallations(seed).map((one) => ({
      ...{ installation_id: one.id, account: one.account, repository_selection: "all" as const },
    })),
  };
}

function accountsOf(repositories: readonly string[], apps: readonly AppOptions[]): string[] {
  const owners = repositories.map((name) => name.split("/", 1)[0] ?? "");
  const installed = apps.flatMap(({ installations = [] }) => installations.map(({ account }) => account));
  return [...new Set([...owners, ...installed])];
}
