/** What there is on the emulated GitHub: accounts, repositories, Apps and where they are installed. */
import type { SeedConfig } from "emulate";

/** Where an App is installed. */
export interface InstallationOptions {
  /** Counted up from 50000001 unless given. */
  readonly id?: number;
  /** The login of the organization. */
  readonly account: string;
  /** Full names; all of the account's unless given. */
  readonly repositories?: readonly string[] | "all";
}

/** A GitHub App. What is not given is filled in, so that `{}` is one. */
export interface AppOptions {
  /** Counted up from 100001 unless given. */
  readonly id?: number;
  /** `denrei`, `denrei-2`, … unless given. */
  readonly slug?: string;
  readonly webhookSecret?: string;
  /** What it may do; {@link defaultPermissions} unless given. */
  readonly permissions?: Readonly<Record<string, "read" | "write">>;
  /** Which webhooks it gets; {@link defaultEvents} unless given. */
  readonly events?: readonly string[];
  /** Where people come back to who log in with it; nowhere unless given. */
  readonly callbackUrls?: readonly string[];
  /** In every account unless given. */
  readonly installations?: readonly InstallationOptions[];
}

/** What is on GitHub. */
export interface SeedOptions {
  /** Full names. They are private, since anybody may read a public one. `acme/web` unless given. */
  readonly repositories?: readonly string[];
  /** One that is installed everywhere unless given. */
  readonly apps?: readonly AppOptions[];
}

/** The same, with everything filled in. */
export interface Seed {
  readonly repositories: readonly string[];
  readonly apps: readonly SeededApp[];
}

/** An App with everything filled in. */
export interface SeededApp extends Required<AppOptions> {
  readonly installations: readonly Required<InstallationOptions>[];
}

/** What an App of a platform asks for. */
export const defaultPermissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "write",
  deployments: "write",
} as const;

/** The webhooks such an App asks for. Those about its installations every App gets. */
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

/** The member of all accounts whom tests act as. `emulate` allows 5000 requests an hour with each token. */
export const user = {
  login: "octocat",
  tokens: Array.from({ length: 50 }, (_, index) => `ghp_octocat_${index}`),
};

/** Fills in what is not given. */
export function filledIn({ repositories = ["acme/web"], apps = [{}] }: SeedOptions): Seed {
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

/** The same as the package `emulate` wants it; webhooks of an App go to `hookUrl`. */
export function seedConfig({ repositories, apps }: Seed, hookUrl: (app: number) => string): SeedConfig {
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
      apps: apps.map((app) => ({
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
      })),
    },
  };
}

function accountsOf(repositories: readonly string[], apps: readonly AppOptions[]): string[] {
  const owners = repositories.map((name) => name.split("/", 1)[0] ?? "");
  const installed = apps.flatMap(({ installations = [] }) => installations.map(({ account }) => account));
  return [...new Set([...owners, ...installed])];
}
