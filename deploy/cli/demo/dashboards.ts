/** A dashboard in front of a stage, and the login that belongs to it. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSettings } from "../../../bus/config/config.ts";
import type { IdentityGround, Issuer, LocalProcesses } from "../../local/index.ts";
import { type Child, holdPort } from "../../local/index.ts";
import { ownCluster } from "../foreign.ts";
import { builtPage } from "../page.ts";
import { type DemoPerson, inventPeople } from "./people.ts";
import type { Part } from "./played.ts";
import { type PlayedLogin, startPlayedLogin } from "./playedlogin.ts";
import type { ProgressDisplay } from "./progress.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";

/** Who plays the login of a local platform; in a cluster of somebody's own nobody does. */
export interface DashboardPlan {
  readonly part: Part<PlayedLogin>;
  /** The program's path; none where the environment names an issuer. */
  readonly program: string | undefined;
}

/** A dashboard that runs. */
export interface DashboardFront {
  readonly url: string;
  /** Who can log in; nobody of ours where the issuer is somebody else's. */
  readonly people: readonly DemoPerson[];
}

/** A dashboard before it runs. */
export interface PreparedDashboard extends DashboardFront {
  /** What it is told in its environment. What it keeps in files is in the folder of a run. */
  env(directory: string): Promise<ReplicaOptions["env"]>;
  /** Lets go of the address that is held for it. */
  makeRoom(): Promise<void>;
}

/** That of a local platform. */
export interface LocalDashboard extends PreparedDashboard {
  /** Starts the login that the API server trusts. */
  identities(ground: IdentityGround & Pick<LocalProcesses, "spawn">): Promise<Issuer>;
}

/** The address is the same each time, unless somebody else has it. */
const usualPort = 8090;
const tries = 50;
const host = "127.0.0.1";

/** The settings that name an issuer, without which there is no login. */
export const issuerVariables = ["DENREI_OIDC_ISSUER", "DENREI_OIDC_CLIENT_ID"] as const;

/** Whether the environment says where people log in. */
export const hasIssuer = (): boolean => issuerVariables.every((name) => process.env[name]);

/** Prepares a dashboard of a local platform, at 8090 or the next free port. */
export async function prepareDashboard(
  { part, program }: DashboardPlan,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<LocalDashboard> {
  const people = inventPeople();
  // The login is told of it long before somebody listens there.
  const { port, release } = await holdPort(usualPort, tries);
  const url = `http://${host}:${port}`;
  let login: Awaited<ReturnType<typeof startPlayedLogin>> | undefined;
  return {
    url,
    people,
    async identities(ground) {
      // Who is logged in stays so until their token ends.
      const onEnd = (error: Error) =>
        say(`${error.message}. Nobody can log in any more; start all of it again.`);
      login = await startPlayedLogin(ground, {
        ...{ part, program: program ?? "", people, dashboardUrl: url, onEnd, signal },
      });
      return { url: login.url, audiences: [login.clientId] };
    },
    async env(directory) {
      if (login === undefined) throw new Error("expected a login that was started, found none");
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
    makeRoom: release,
  };
}

/** A dashboard in somebody's own cluster: where their settings say. Throws a `ConfigError` when these can not be. */
export function ownDashboard(): PreparedDashboard {
  const { dashboardAddress, dashboardUrl = `http://${dashboardAddress}` } = readSettings(
    ["dashboardAddress", "dashboardUrl"],
    {},
    process.env,
  );
  return {
    url: dashboardUrl,
    people: [],
    async env(directory) {
      // Keys of its own, where they name none.
      if (process.env.DENREI_DASHBOARD_KEYS) return {};
      const folder = join(directory, "dashboard");
      await mkdir(folder, { mode: 0o700 });
      return { DENREI_DASHBOARD_KEYS: await sessionKeys(folder) };
    },
    makeRoom: async () => undefined,
  };
}

/** Builds the page where it has to be, and starts `dashboard-1`. Resolves when it is ready. */
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
  await dashboard.makeRoom();
  return startReplica(`dashboard-1${options.suffix}`, "dashboard", [], { ...options, env });
}

/** Where the dashboard is, and who can log in there. */
export function guideToDashboard({ url, people }: DashboardFront, namespace: string): string[] {
  const may = { admin: "who may do everything", view: "who may look" } as const;
  return [
    `The dashboard is at ${url}`,
    ...people.map(
      ({ name, password, role }) =>
        `  Log in as ${name}, ${may[role]} in the namespace ${namespace}: ${password}`,
    ),
  ];
}

/** Why there is no dashboard, and how there would be one. */
export const noDashboard = (command: string): string =>
  ownCluster()
    ? `No dashboard: set ${issuerVariables.join(" and ")}, which your API server has to trust (docs/dashboard.md).`
    : `No dashboard: --login is to name a program that plays a login. In a checkout, ${command} has one.`;

const sessionKeys = (folder: string): Promise<string> =>
  file(folder, "session-keys", `${randomBytes(32).toString("base64")}\n`);

async function file(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
