/** The GitHub simulator of tests and of the demo: the package `emulate`, and a simulation of what it lacks. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Account, account, pushOf } from "./account.ts";
import { api } from "./api.ts";
import { AppKeys } from "./appkeys.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { commitsOf } from "./commits.ts";
import { Deliveries, type Delivery } from "./deliveries.ts";
import { deliveryList } from "./deliverylist.ts";
import { deployments } from "./deployments.ts";
import { type Fault, type FaultAnswer, type FaultMatch, Faults } from "./faults.ts";
import { graphql } from "./graphql.ts";
import { apiPrefix } from "./links.ts";
import { moves, type RepositoryMoves } from "./moves.ts";
import { clientOf, type GitHubPerson, people } from "./people.ts";
import { Pulls } from "./pulls.ts";
import { repositoryApi } from "./repositoryapi.ts";
import { type Restrictions, restrictions } from "./restrictions.ts";
import { type SeededApp, type SeedOptions, seedConfig, user, withDefaults } from "./seed.ts";
import { type ApiRequest, hookUrl, requestListener } from "./server.ts";
import { commitStatuses } from "./statuses.ts";
import { timelines } from "./timeline.ts";
import { type Caller, type TokenPolicy, Tokens } from "./tokens.ts";
import { startUpstream, type Upstream } from "./upstream.ts";
import { userRequests } from "./userrequests.ts";
import { webhooks } from "./webhooks.ts";

/** Options of the simulated GitHub. */
export interface GitHubOptions extends SeedOptions {
  /** Target URLs of webhooks, used in turn. Without targets, deliveries are recorded as failed. */
  readonly targets?: readonly string[];
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
  /** Forbids Apps to write to a repository until the returned function is called. */
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
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function closeServer(): Promise<void> {
    stopping.abort();
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  let upstream: Upstream;
  try {
    const config = seedConfig(seed, (app) => hookUrl(url, app));
    upstream = await startUpstream(config, url);
  } catch (error) {
    await closeServer();
    throw error;
  }

  const { ask } = upstream;
  const faults = new Faults();
  const requests: ApiRequest[] = [];
  const pulls = new Pulls();
  const timeline = timelines();
  const tokens = new Tokens({ lifetimeMillis: options.tokenLifetimeMillis, length: options.tokenLength });
  const commits = commitsOf(userRequests(ask), pulls.hasMerge);
  const login = ({ app }: Caller) => botOf(seed.apps, app) ?? user.login;
  const restricted = restrictions();
  const repositories = repositoryApi({
    endpoints: [...commitStatuses(commits.has), ...deployments(commits.resolve), ...timeline.endpoints],
    ask,
    tokens,
    login,
    apiUrl: url + apiPrefix,
  });
  const deliveries = new Deliveries({
    targets: options.targets ?? [],
    signal: stopping.signal,
  });
  const list = deliveryList(deliveries, (headers) =>
    ask({ method: "GET", path: "/app", headers, body: Buffer.alloc(0) }),
  );
  const users = people({
    people: options.people ?? [],
    apps: seed.apps,
    repositories: seed.repositories,
    repository: (name) => person.api("GET", `/repos/${name}`),
    apiUrl: url + apiPrefix,
  });
  const kept = (call: ApiCall) =>
    restricted.answer(call, async (path) => {
      const { body } = await userRequests(ask)("GET", path);
      return Number(/\d+$/.exec(JSON.parse(body.toString()).issue_url ?? "")?.[0]);
    });
  const { answer, answerUser } = api({
    ask,
    people: users.answer,
    beside: [list, tokens.revoke, graphql(tokens, login), kept],
    repositories,
    tokens,
    pulls,
  });
  const { receive, send, announce } = webhooks({ apps: seed.apps, url, deliveries, pulls });
  const apps = seed.apps.map((app) => ({
    ...app,
    ...clientOf(app),
    privateKey: privateKeyOf(app, upstream),
  }));
  const keys = new AppKeys(apps);
  const names = [...seed.repositories];
  const moved = moves({ request: userRequests(ask), names, pulls, announce, apiUrl: url + apiPrefix });
  const { account: person, pushed } = account({
    request: userRequests(answerUser),
    pulls,
    timelines: timeline,
    restrictions: restricted,
    announce,
  });
  async function answerClient(asked: ApiCall): Promise<ApiAnswer> {
    return moved.answer(withPageSize(withCase(asked, names), options.mostPerPage), async (call) => {
      const given = await answer(keys.resigned(call));
      const push = pushOf(call, given);
      if (push !== undefined) await pushed(push);
      return given;
    });
  }
  const parts = {
    faults,
    requests,
    caller: tokens.caller,
    answer: answerClient,
    login: users.login,
    webhook: receive,
    signal: stopping.signal,
  };
  server.on("request", requestListener(parts));

  return {
    url,
    apps,
    ...person,
    ...moved.moves,
    deliverTo(urls) {
      deliveries.targets = urls;
    },
    deliveries: () => deliveries.all,
    untilDelivered: () => deliveries.settled(),
    ageDeliveries: (millis) => deliveries.age(millis),
    send,
    requests: () => requests,
    fault: (match, meets, times) => faults.add(match, meets, times),
    restrict: restricted.restrict,
    issueTokens(policy) {
      tokens.policy = policy;
    },
    tokens: () => tokens.all,
    permissionsOf: tokens.permissionsOf,
    revokeUser: users.revoke,
    rotateKey: (app = apps[0]?.id ?? 0) => keys.rotate(app),
    async stop() {
      await closeServer();
      await upstream.close();
      await deliveries.close();
    },
  };
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

/** Login of the bot user of an App. */
const botOf = (apps: readonly SeededApp[], id: number | undefined): string | undefined => {
  const app = apps.find((one) => one.id === id);
  return app && `${app.slug}[bot]`;
};

function privateKeyOf({ id }: SeededApp, { generatedSecrets }: Upstream): string {
  const key = generatedSecrets.find((one) => one.kind === "github.app_private_key" && one.id === String(id));
  if (key === undefined) throw new Error(`emulate created no private key for App ${id}`);
  return key.value;
}
