/** A dashboard with a real API server that trusts a real issuer, and users with different rights. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { connectBus } from "../../bus/nats/connect.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { builtPage } from "../../deploy/environment/page.ts";
import { userRoles } from "../../deploy/generate/users.ts";
import { freePort } from "../../deploy/local/index.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import type { IssuerOptions, SimulatedIssuer } from "../../deploy/simulators/login/issuer.ts";
import type { Person } from "../../deploy/simulators/login/loginpage.ts";
import { functions } from "../../functions/index.ts";
import { sharedBrowser } from "./chromium.ts";
import { DashboardPages } from "./dashboardpages.ts";
import {
  type LocalTestEnvironment,
  type OwnTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
  startOwnTestEnvironment,
  startReplica,
  type TestEnvironmentOptions,
} from "./environment.ts";
import type { IssuerSite } from "./issuersite.ts";
import { createNamespace } from "./namespaces.ts";
import { people } from "./people.ts";
import { grant } from "./rights.ts";
import { logIn, type Visitor } from "./visitor.ts";

export { people } from "./people.ts";

await builtPage();

/** The namespace where `alice` has the rights of `admin` and `bob` those of `view`. */
export const team = "team-a";
/** A namespace where neither has rights. */
export const foreign = "team-b";

/** Deviations from the defaults. */
export interface DashboardEnvironmentOptions
  extends TestEnvironmentOptions,
    Pick<IssuerOptions, "idTokenSeconds"> {
  /** Names and paths of the functions whose queues the dashboard shows. Defaults to the shipped ones. */
  readonly functions?: readonly string[];
  /** Starts the GitHub that people connect, as its first App, which has them come back there. The dashboard knows none unless given. */
  readonly github?: (callbackUrl: string) => Promise<SimulatedGitHub>;
}

/** A dashboard and its environment. */
export interface DashboardEnvironment extends LocalTestEnvironment {
  readonly issuer: SimulatedIssuer;
  /** Where browsers reach the dashboard. */
  readonly url: string;
  readonly dashboard: Replica;
  /** Path of the session keys. */
  readonly keysPath: string;
  /** Starts another dashboard replica for the same address, as behind a load balancer. `url` is the replica's own. */
  secondReplica(): Promise<Replica & { readonly url: string }>;
  /** Logs a user in without a browser. */
  visitor(person: Person): Promise<Visitor>;
  browser(): Promise<Browser>;
  /** A browser page with a logged-in user, and with the namespace selected if one is given. */
  loggedIn(person: Person, namespace?: string): Promise<Page>;
  /** The same through the issuer's login page, so that the browser has a session there as well. */
  loggedInByHand(person: Person, namespace?: string): Promise<Page>;
  stop(): Promise<void>;
}

/** The same with its own control plane, which a test can stop. */
export interface OwnDashboardEnvironment extends DashboardEnvironment {
  readonly platform: OwnTestEnvironment["platform"];
}

/** The rules behind users' roles, where no controller aggregates `view`, `edit`, and `admin`. */
const partsOf = {
  view: ["system:aggregate-to-view", "denrei-view"],
  admin: [
    "system:aggregate-to-view",
    "system:aggregate-to-edit",
    "denrei-view",
    "denrei-edit",
    "denrei-admin",
  ],
} as const;

const binding = (namespace: string, user: string, role: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: `${user}-${role}`.replaceAll(":", "-"), namespace },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
});

/** A line of the key file. */
export const newKey = (): string => randomBytes(32).toString("base64");

/** Starts everything in the local cluster. */
export const startDashboardEnvironment = async (
  options: DashboardEnvironmentOptions = {},
): Promise<DashboardEnvironment> => dashboardEnvironmentOn(await startLocalTestEnvironment(options), options);

/** Starts everything. The API server prefixes the issuer's user names, and the roles name them with the prefix; none unless given. */
export async function startOwnDashboardEnvironment({
  usernamePrefix = "",
  ...options
}: DashboardEnvironmentOptions & {
  readonly usernamePrefix?: string;
} = {}): Promise<OwnDashboardEnvironment> {
  const environment = await startOwnTestEnvironment({ ...options, issuer: { usernamePrefix } });
  const { platform } = environment;
  return { ...(await dashboardEnvironmentOn(environment, options, usernamePrefix)), platform };
}

async function dashboardEnvironmentOn(
  environment: LocalTestEnvironment,
  options: DashboardEnvironmentOptions,
  usernamePrefix = "",
): Promise<DashboardEnvironment> {
  const { platform } = environment;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const pages = new DashboardPages(url);
  let issuer: SimulatedIssuer | undefined;

  async function stop(): Promise<void> {
    await pages.close();
    await issuer?.stop();
    await environment.stop();
  }

  try {
    issuer = await startIssuer(environment, url, options);
    await createTeams(environment, usernamePrefix);
    await createStreams(environment);
    const github = await options.github?.(`${url}/auth/github/callback`);
    const keysPath = await fileIn(platform, "dashboard-keys", `${newKey()}\n`);
    const env = await environmentOf(platform, { url, keysPath, issuer, github });
    const replica = (name: string, address: string) =>
      startReplica(platform, name, ["dashboard", ...(options.functions ?? [])], {
        env: { ...env, DENREI_DASHBOARD_ADDRESS: address },
      });
    const dashboard = await replica("dashboard-1", `127.0.0.1:${port}`);
    return {
      ...environment,
      issuer,
      url,
      dashboard,
      keysPath,
      async secondReplica() {
        const second = await freePort();
        const started = await replica("dashboard-2", `127.0.0.1:${second}`);
        return Object.assign(Object.create(started) as Replica, { url: `http://127.0.0.1:${second}` });
      },
      visitor: (person) => logIn(url, person),
      browser: sharedBrowser,
      loggedIn: (person, namespace) => pages.loggedIn(person, namespace),
      loggedInByHand: (person, namespace) => pages.loggedInByHand(person, namespace),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where the issuer that the API server trusts listens. */
const siteOf = ({ issuer }: LocalTestEnvironment["platform"]): IssuerSite => {
  if (issuer === undefined) throw new Error("the API server trusts no issuer");
  return issuer;
};

const startIssuer = (
  { platform }: LocalTestEnvironment,
  dashboardUrl: string,
  { idTokenSeconds }: DashboardEnvironmentOptions,
): Promise<SimulatedIssuer> =>
  siteOf(platform).start({
    people: Object.values(people),
    dashboardUrl,
    ...(idTokenSeconds !== undefined && { idTokenSeconds }),
  });

/** Creates the namespaces, the roles, and the rights of alice and bob. */
async function createTeams({ client }: LocalTestEnvironment, usernamePrefix: string): Promise<void> {
  for (const name of [team, foreign]) await createNamespace(client, name);
  await grant(client, [
    ...userRoles(functions),
    ...partsOf.admin.map((role) => binding(team, `${usernamePrefix}${people.alice.name}`, role)),
    ...partsOf.view.map((role) => binding(team, `${usernamePrefix}${people.bob.name}`, role)),
  ]);
}

/** A dashboard waits for the bridge of its version, which creates the streams. Not every test has one. */
async function createStreams({ platform }: LocalTestEnvironment): Promise<void> {
  const asBridge = await connectBus({ url: platform.natsUrlFor("bridge"), name: "test" });
  await ensureTopology(asBridge, { replicas: 1, ackWaitMillis: 10_000 });
  await asBridge.nc.close();
}

interface DashboardSettings {
  readonly url: string;
  readonly keysPath: string;
  readonly issuer: SimulatedIssuer;
  readonly github: SimulatedGitHub | undefined;
}

/** The environment of each replica, except for its own address. */
async function environmentOf(
  platform: LocalTestEnvironment["platform"],
  { url, keysPath, issuer, github }: DashboardSettings,
): Promise<Readonly<Record<string, string>>> {
  const [app] = github?.apps ?? [];
  return {
    KUBECONFIG: platform.kubeconfigPath,
    NATS_URL: platform.natsUrlFor("dashboard"),
    DENREI_DASHBOARD_URL: url,
    DENREI_DASHBOARD_KEYS: keysPath,
    DENREI_OIDC_ISSUER: issuer.url,
    DENREI_OIDC_CLIENT_ID: issuer.clientId,
    DENREI_OIDC_CLIENT_SECRET: await fileIn(platform, "oidc-secret", issuer.clientSecret),
    DENREI_OIDC_CA: siteOf(platform).caPath,
    ...(github &&
      app && {
        DENREI_GITHUB_URL: github.url,
        DENREI_GITHUB_CLIENT_ID: app.clientId,
        DENREI_GITHUB_CLIENT_SECRET: await fileIn(platform, "github-secret", app.clientSecret),
      }),
  };
}

/** Writes a file that only this user can read; resolves with its path. */
async function fileIn(
  { directory }: LocalTestEnvironment["platform"],
  name: string,
  text: string,
): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
