/** The GitHub simulator of tests and of the demo: the package `emulate`, and a simulation of what it lacks. */
import { type Account, account, pushOf } from "./account.ts";
import { api } from "./api.ts";
import { AppKeys } from "./appkeys.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { type CreatedApp, CreatedApps } from "./createdapps.ts";
import { createPages } from "./createpages.ts";
import { Deliveries, type Delivery } from "./deliveries.ts";
import { type Fault, type FaultAnswer, type FaultMatch, Faults } from "./faults.ts";
import { apiPrefix } from "./links.ts";
import { moves, type RepositoryMoves } from "./moves.ts";
import { clientOf, type GitHubPerson } from "./people.ts";
import { Pulls } from "./pulls.ts";
import { type Restrictions, restrictions } from "./restrictions.ts";
import {
  hiddenApp,
  hiddenInstallations,
  type Seed,
  type SeededApp,
  type SeedOptions,
  seedConfig,
  withDefaults,
} from "./seed.ts";
import { type ApiRequest, hookUrl, listen, requestListener } from "./server.ts";
import { timelines } from "./timeline.ts";
import { type TokenPolicy, Tokens } from "./tokens.ts";
import { startUpstream, type Upstream } from "./upstream.ts";
import { userApi, userRequests } from "./userrequests.ts";
import { webhooks } from "./webhooks.ts";

/** Options of the simulated GitHub. */
export interface GitHubOptions extends SeedOptions {
  /** Target URLs of webhooks, used in turn. Without targets, deliveries are recorded as failed. */
  readonly targets?: readonly string[];
  /** Called with each delivery that failed, and with the error if there was no response. */
  readonly onFailedDelivery?: (delivery: Delivery, error?: Error) => void;
  /** People who can log in with an App. Defaults to none. */
  readonly people?: readonly GitHubPerson[];
  /** Lifetime of installation tokens. Defaults to one hour. */
  readonly tokenLifetimeMillis?: number;
  /** Length of installation tokens, at least 60. Defaults to 31; GitHub's newer ones have 520. */
  readonly tokenLength?: number;
  /** Upper limit of `per_page`. Defaults to 100, as on GitHub. */
  readonly mostPerPage?: number;
}

/** An App with its credentials. */
export interface SimulatedApp extends SeededApp {
  /** PEM in PKCS #1, as GitHub issues it. */
  readonly privateKey: string;
  /** OAuth client ID for people who log in with the App. */
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A running GitHub simulator. */
export interface SimulatedGitHub extends Account, RepositoryMoves {
  /** `http://127.0.0.1:port`; the API is below its `/api/v3`. */
  readonly url: string;
  readonly apps: readonly SimulatedApp[];
  /** Apps that people created on its pages, in order. */
  readonly createdApps: readonly CreatedApp[];
  /** Makes the codes of created Apps older: GitHub keeps them for an hour. */
  ageCodes(millis: number): void;
  /** Replaces the target URLs of webhooks. */
  deliverTo(urls: readonly string[]): void;
  /** Deliveries of all Apps, in the order of their completion. */
  deliveries(): readonly Delivery[];
  /** Resolves when no delivery is in flight. */
  untilDelivered(): Promise<void>;
  /** Moves the time of all recorded deliveries into the past. */
  ageDeliveries(millis: number): void;
  /**
   * Delivers a webhook that `emulate` does not send to the App with that id, or the first App. The payload is not
   * completed, except that a missing `installation` is set to the App's first one. Resolves with the outcome.
   */
  send(event: string, payload: object, app?: number): Promise<Delivery>;
  /** All requests of clients to the API. */
  requests(): readonly ApiRequest[];
  /** Injects a fault into the next `times` matching requests, or into all until it is removed. */
  fault(match: FaultMatch, answer: FaultAnswer, times?: number): Fault;
  /** Prevents Apps from writing to a repository until the returned function is called. */
  readonly restrict: Restrictions["restrict"];
  /** Sets the policy for new installation tokens. */
  issueTokens(policy: TokenPolicy): void;
  /** All issued installation tokens, including expired and revoked ones. */
  tokens(): readonly string[];
  /** Permissions of a token; undefined for a revoked one. */
  permissionsOf(token: string): Readonly<Record<string, string>> | undefined;
  /** Revokes all tokens that Apps have for a person. */
  revokeUser(login: string): void;
  /** Replaces the private key of the App with that id, or the first App; the old key stops working. */
  rotateKey(app?: number): string;
  stop(): Promise<void>;
}

/** Starts the simulator on a free port of 127.0.0.1, in this process. */
export async function startGitHub(options: GitHubOptions = {}): Promise<SimulatedGitHub> {
  const seed = withDefaults(options);
  const stopping = new AbortController();
  const { server, url, close } = await listen();
  const closeServer = (): Promise<void> => {
    stopping.abort();
    return close();
  };
  const upstream = await startSeeded(seed, url, closeServer);
  const { ask } = upstream;
  const apiUrl = url + apiPrefix;
  const names = [...seed.repositories];
  const apps = seed.apps.map((app) => credentialsOf(app, upstream));
  const keys = new AppKeys(apps);
  const requests: ApiRequest[] = [];
  const faults = new Faults();
  const state = { pulls: new Pulls(), timelines: timelines(), restrictions: restrictions() };
  const tokens = new Tokens({ lifetimeMillis: options.tokenLifetimeMillis, length: options.tokenLength });
  const deliveries = new Deliveries({
    targets: options.targets ?? [],
    signal: stopping.signal,
    onFailure: options.onFailedDelivery,
  });
  const { receive, send, announce } = webhooks({ apps: seed.apps, url, deliveries, pulls: state.pulls });
  const moved = moves({ request: userRequests(ask), names, pulls: state.pulls, announce, apiUrl });
  const created = createdApps(seed, upstream, options.people ?? [], url);
  const { answer, request, people } = api({
    ...state,
    ...{ ask, seed, created, deliveries, tokens, apiUrl },
    people: options.people ?? [],
  });
  const { account: person, pushed } = account({ ...state, request, announce });

  async function answerClient(received: ApiCall): Promise<ApiAnswer> {
    return moved.answer(withPageSize(withCase(received, names), options.mostPerPage), async (call) => {
      const response = await answer(keys.signedWithFirstKey(call));
      const push = pushOf(call, response);
      if (push !== undefined) await pushed(push);
      return response;
    });
  }

  const pages = createPages({
    created,
    slugs: () => seed.apps.map(({ slug }) => slug),
    people: (options.people ?? []).map(({ login }) => login),
    repositories: names,
    installed: announceInstallation(created, send),
  });
  const serving = {
    ...{ answer: answerClient, caller: tokens.caller },
    ...{ login: people.login, pages, webhook: receive },
  };
  server.on("request", requestListener({ ...serving, faults, requests, signal: stopping.signal }));

  return {
    url,
    apps,
    createdApps: created.all,
    ageCodes: (millis) => created.ageCodes(millis),
    ...person,
    ...moved.moves,
    ...deliveryControls(deliveries),
    ...tokenControls(tokens),
    send,
    requests: () => requests,
    fault: (match, response, times) => faults.add(match, response, times),
    restrict: state.restrictions.restrict,
    revokeUser: people.revoke,
    rotateKey: (app = apps[0]?.id ?? 0) => keys.rotate(app),
    async stop() {
      await closeServer();
      await upstream.close();
      await deliveries.close();
    },
  };
}

const deliveryControls = (
  deliveries: Deliveries,
): Pick<SimulatedGitHub, "deliverTo" | "deliveries" | "untilDelivered" | "ageDeliveries"> => ({
  deliverTo(urls) {
    deliveries.targets = urls;
  },
  deliveries: () => deliveries.all,
  untilDelivered: () => deliveries.settled(),
  ageDeliveries: (millis) => deliveries.age(millis),
});

const tokenControls = (
  tokens: Tokens,
): Pick<SimulatedGitHub, "issueTokens" | "tokens" | "permissionsOf"> => ({
  issueTokens(policy) {
    tokens.policy = policy;
  },
  tokens: () => tokens.all,
  permissionsOf: tokens.permissionsOf,
});

const createdApps = (
  seed: Seed,
  { ask, generatedSecrets }: Upstream,
  people: readonly GitHubPerson[],
  url: string,
): CreatedApps =>
  new CreatedApps({
    ...{ ask, url, apps: seed.apps, api: userApi(userRequests(ask)) },
    hidden: {
      privateKey: privateKeyOf(hiddenApp.id, generatedSecrets),
      installations: hiddenInstallations(seed),
    },
    people: people.map(({ login }) => login),
  });

/** Sends the webhook about an installation to its App. */
const announceInstallation =
  (created: CreatedApps, send: SimulatedGitHub["send"]) =>
  (app: CreatedApp, id: number, action: "install" | "update"): void => {
    const installation = app.installations.find((one) => one.id === id);
    if (app.hookUrl === null || installation === undefined) return;
    const described = created.installationOf(app, installation);
    const sender = { login: app.owner, id: 1, type: "User" };
    if (action === "install") {
      void send(
        "installation",
        { action: "created", installation: described, sender, repositories: [] },
        app.id,
      );
      return;
    }
    const changed = { repositories_added: [], repositories_removed: [], repository_selection: "selected" };
    void send(
      "installation_repositories",
      { action: "added", installation: described, sender, ...changed },
      app.id,
    );
  };

/** Starts `emulate` with the initial content. Closes the server if that fails. */
async function startSeeded(seed: Seed, url: string, closeServer: () => Promise<void>): Promise<Upstream> {
  try {
    return await startUpstream(
      seedConfig(seed, (app) => hookUrl(url, app)),
      url,
    );
  } catch (error) {
    await closeServer();
    throw error;
  }
}

/** Repository names are case-insensitive at GitHub, but not in `emulate`. */
const withCase = (call: ApiCall, repositories: readonly string[]): ApiCall => ({
  ...call,
  path: call.path.replace(/(?<=^\/repos\/)[^/?]+\/[^/?]+/, (matched) => {
    const name = repositories.find((one) => one.toLowerCase() === matched.toLowerCase());
    return name ?? matched;
  }),
});

const withPageSize = (call: ApiCall, most = 100): ApiCall => ({
  ...call,
  path: call.path.replace(/(?<=[?&]per_page=)\d+/, (matched) => String(Math.min(Number(matched), most))),
});

const credentialsOf = (app: SeededApp, { generatedSecrets }: Upstream): SimulatedApp => ({
  ...app,
  ...clientOf(app),
  privateKey: privateKeyOf(app.id, generatedSecrets),
});

function privateKeyOf(app: number, secrets: Upstream["generatedSecrets"]): string {
  const key = secrets.find((one) => one.kind === "github.app_private_key" && one.id === String(app));
  if (key === undefined) throw new Error(`emulate created no private key for App ${app}`);
  return key.value;
}
