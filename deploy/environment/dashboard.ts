/** The dashboard of an environment, and the issuer where its users log in. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSettings } from "denrei/runtime";
import type { Issuer, IssuerEnvironment, LocalProcesses } from "../local/index.ts";
import { type Child, holdPort } from "../local/index.ts";
import { existingCluster } from "./existing.ts";
import { builtPage } from "./page.ts";
import type { ProgressDisplay } from "./progress.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";
import { loginSimulator, startLogin } from "./simulators/login.ts";
import { missingSimulator } from "./simulators/start.ts";
import { createUsers, type DashboardUser } from "./users.ts";

/** A dashboard that runs. */
export interface RunningDashboard {
  readonly url: string;
  /** Users of the simulated login. Empty for an issuer that the environment names. */
  readonly users: readonly DashboardUser[];
}

/** A dashboard before it runs. */
export interface PreparedDashboard extends RunningDashboard {
  /** Its environment variables. Secrets are written to files in the folder of the run. */
  env(directory: string): Promise<ReplicaOptions["env"]>;
  /** Releases the port that is reserved for it. */
  releasePort(): Promise<void>;
}

/** The dashboard of a local platform. */
export interface LocalDashboard extends PreparedDashboard {
  /** Starts the login that the API server trusts. */
  identities(environment: IssuerEnvironment & Pick<LocalProcesses, "spawn">): Promise<Issuer>;
}

/** The address stays the same between runs, unless another program listens there. */
const usualPort = 8090;
const tries = 50;
const host = "127.0.0.1";

/** The settings that name an issuer. A dashboard in an existing cluster needs them. */
export const issuerVariables = ["DENREI_OIDC_ISSUER", "DENREI_OIDC_CLIENT_ID"] as const;

/** Why the environment cannot have a dashboard; undefined if it can. */
export function missingIssuer(): string | undefined {
  if (!existingCluster()) return missingSimulator(loginSimulator);
  return issuerVariables.every((name) => process.env[name])
    ? undefined
    : `set ${issuerVariables.join(" and ")} to an issuer that your API server trusts (docs/dashboard.md)`;
}

/** Prepares the dashboard of a local platform, at 8090 or the next free port. */
export async function prepareDashboard({
  say,
  signal,
}: {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}): Promise<LocalDashboard> {
  const users = createUsers();
  // The login needs the address long before the dashboard listens.
  const { port, release } = await holdPort(usualPort, tries);
  const url = `http://${host}:${port}`;
  let login: Awaited<ReturnType<typeof startLogin>> | undefined;
  return {
    url,
    users,
    async identities(environment) {
      // Users who are logged in stay so until their token expires.
      const onEnd = (error: Error) =>
        say(`${error.message}. New logins are impossible; stop everything and start again.`);
      login = await startLogin(environment, { users, dashboardUrl: url, onEnd, signal });
      return { url: login.url, audiences: [login.clientId] };
    },
    async env(directory) {
      if (login === undefined) throw new Error("the login was not started");
      const folder = join(directory, "login");
      return {
        DENREI_DASHBOARD_ADDRESS: `${host}:${port}`,
        DENREI_DASHBOARD_URL: undefined,
        DENREI_DASHBOARD_KEYS: await sessionKeys(folder),
        DENREI_OIDC_ISSUER: login.url,
        DENREI_OIDC_CLIENT_ID: login.clientId,
        DENREI_OIDC_CLIENT_SECRET: await file(folder, "client-secret", login.clientSecret),
        DENREI_OIDC_SCOPES: undefined,
        DENREI_OIDC_CA: login.ca,
      };
    },
    releasePort: release,
  };
}

/** Prepares a dashboard for an existing cluster, at the address that the settings name. Throws a `ConfigError`. */
export function existingDashboard(): PreparedDashboard {
  const { dashboardAddress, dashboardUrl = `http://${dashboardAddress}` } = readSettings(
    ["dashboardAddress", "dashboardUrl"],
    {},
    process.env,
  );
  return {
    url: dashboardUrl,
    users: [],
    async env(directory) {
      if (process.env.DENREI_DASHBOARD_KEYS) return {};
      const folder = join(directory, "dashboard");
      await mkdir(folder, { mode: 0o700 });
      return { DENREI_DASHBOARD_KEYS: await sessionKeys(folder) };
    },
    releasePort: async () => undefined,
  };
}

/** Builds the page if it is out of date, and starts `dashboard-1`. Resolves when it is ready. */
export async function startDashboard(
  dashboard: PreparedDashboard,
  options: ReplicaOptions,
  display: ProgressDisplay,
): Promise<Child> {
  await builtPage({
    signal: options.signal,
    onBuild: () => display.line("dashboard's page", "building (once, and after changes)", "result"),
  });
  const env = { ...options.env, ...(await dashboard.env(options.processes.directory)) };
  await dashboard.releasePort();
  return startReplica(`dashboard-1${options.suffix}`, "dashboard", [], { ...options, env });
}

/** Lines that say where the dashboard is, and who can log in. */
export function guideToDashboard({ url, users }: RunningDashboard, namespace: string): string[] {
  const may = { admin: "who may change everything", view: "who may only read" } as const;
  return [
    `The dashboard is at ${url}`,
    ...users.map(
      ({ name, password, role }) =>
        `  Log in as ${name}, ${may[role]} in the namespace ${namespace}: ${password}`,
    ),
  ];
}

const sessionKeys = (folder: string): Promise<string> =>
  file(folder, "session-keys", `${randomBytes(32).toString("base64")}\n`);

async function file(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
