/**
 * The GitHub of tests and of the demo: the package `emulate`, and beside it what that does not have. Where a file here
 * stands in for something of GitHub's, it says so at its top.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Account, account } from "./account.ts";
import { api } from "./api.ts";
import { AppKeys } from "./appkeys.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { pushOf } from "./clientpushes.ts";
import { commitsOf } from "./commits.ts";
import { Deliveries, type Delivery } from "./deliveries.ts";
import { deliveryList } from "./deliverylist.ts";
import { deployments } from "./deployments.ts";
import { type Fault, type FaultAnswer, type FaultMatch, Faults } from "./faults.ts";
import { type ApiRequest, front, hookUrl } from "./front.ts";
import { graphql } from "./graphql.ts";
import { apiPrefix } from "./links.ts";
import { moves, type RepositoryMoves } from "./moves.ts";
import { clientOf, type GitHubPerson, people } from "./people.ts";
import { Pulls } from "./pulls.ts";
import { repositoryApi } from "./repositoryapi.ts";
import { type Restrictions, restrictions } from "./restrictions.ts";
import { filledIn, type SeededApp, type SeedOptions, seedConfig, user } from "./seed.ts";
import { commitStatuses } from "./statuses.ts";
import { timelines } from "./timeline.ts";
import { type Caller, type TokenPolicy, Tokens } from "./tokens.ts";
import { startUpstream, type Upstream } from "./upstream.ts";
import { userRequests } from "./userrequests.ts";
import { webhooks } from "./webhooks.ts";

/** What is on GitHub, and how it behaves. */
export interface GitHubOptions extends SeedOptions {
  /** Where webhooks go, in turn; nowhere unless given, which is recorded as a failure. */
  readonly targets?: readonly string[];
  /** Who can log in with an App; nobody unless given. */
  readonly people?: readonly GitHubPerson[];
  /** How long installation tokens work; an hour unless given. */
  readonly tokenLifetimeMillis?: number;
  /** How many characters installation tokens have, 60 or more; 31 unless given. Newer ones of GitHub have 520. */
  readonly tokenLength?: number;
  /** The largest page of a list, whatever a client asks for; 100 as on GitHub unless given. */
  readonly mostPerPage?: number;
}

/** An App, with all that is needed to be it. */
export interface EmulatedApp extends SeededApp {
  /** PEM, PKCS #1, as GitHub gives it. */
  readonly privateKey: string;
  /** What it is to people who log in with it. */
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A running GitHub. */
export interface EmulatedGitHub extends Account, RepositoryMoves {
  /** `http://127.0.0.1:port`; the API is below `/api/v3` of it. */
  readonly url: string;
  readonly apps: readonly EmulatedApp[];
  /** From now on webhooks go there, in turn. */
  deliverTo(urls: readonly string[]): void;
  /** All that were attempted so far, of all Apps, in the order of their ends. */
  deliveries(): readonly Delivery[];
  /** Resolves when no webhook is under way to its target. */
  untilDelivered(): Promise<void>;
  /** Moves every attempt so far into the past, as if that time had passed since. */
  ageDeliveries(millis: number): void;
  /**
   * Delivers a webhook that `emulate` does not send, to the App with that id or the first one, signed and recorded as
   * the others. The payload is as it is given; one without an installation gets the App's first. Resolves when there is
   * an outcome.
   */
  send(event: string, payload: object, app?: number): Promise<Delivery>;
  /** All requests to the API that clients have made so far. */
  requests(): readonly ApiRequest[];
  /** Lets the next `times` requests that match meet a fault, or all of them until it is removed. */
  fault(match: FaultMatch, answer: FaultAnswer, times?: number): Fault;
  /** Keeps Apps from writing to a repository, until what it returns is called. */
  readonly restrict: Restrictions["restrict"];
  /** From now on installation tokens are like that. */
  issueTokens(policy: TokenPolicy): void;
  /** All installation tokens that were handed out so far, also those that are over. */
  tokens(): readonly string[];
  /** Permissions and repositories of a token; undefined for a revoked one. */
  permissionsOf(token: string): Readonly<Record<string, string>> | undefined;
  /** Somebody takes back all that they have let Apps do in their name. */
  revokeUser(login: string): void;
  /** Gives the App with that id or the first one another private key; the one before is no longer good. */
  rotateKey(app?: number): string;
  stop(): Promise<void>;
}

/** Starts it on a free port of 127.0.0.1, in this process. */
export async function startGitHub(options: GitHubOptions = {}): Promise<EmulatedGitHub> {
  const seed = filledIn(options);
  const over = new AbortController();
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function closeFront(): Promise<void> {
    over.abort();
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
    await closeFront();
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
    signal: over.signal,
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
    signal: over.signal,
  };
  server.on("request", front(parts));

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
      await closeFront();
      await upstream.close();
      await deliveries.close();
    },
  };
}

/** GitHub's names ignore case, and those of `emulate` do not. */
const withCase = (call: ApiCall, repositories: readonly string[]): ApiCall => ({
  ...call,
  path: call.path.replace(/(?<=^\/repos\/)[^/?]+\/[^/?]+/, (asked) => {
    const name = repositories.find((one) => one.toLowerCase() === asked.toLowerCase());
    return name ?? asked;
  }),
});

const withPageSize = (call: ApiCall, most = 100): ApiCall => ({
  ...call,
  path: call.path.replace(/(?<=[?&]per_page=)\d+/, (asked) => String(Math.min(Number(asked), most))),
});

/** The user that acts for an App. */
const botOf = (apps: readonly SeededApp[], id: number | undefined): string | undefined => {
  const app = apps.find((one) => one.id === id);
  return app && `${app.slug}[bot]`;
};

function privateKeyOf({ id }: SeededApp, { generatedSecrets }: Upstream): string {
  const key = generatedSecrets.find((one) => one.kind === "github.app_private_key" && one.id === String(id));
  if (key === undefined) throw new Error(`expected emulate to have made a private key for the App ${id}`);
  return key.value;
}
