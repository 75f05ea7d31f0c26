/** The API: the package `emulate`, and the simulated endpoints that it lacks. */
import { createHash } from "node:crypto";
import type { ApiAnswer, ApiCall, Endpoint } from "./call.ts";
import { commitsOf } from "./commits.ts";
import type { CreatedApps } from "./createdapps.ts";
import type { Deliveries } from "./deliveries.ts";
import { deliveryList } from "./deliverylist.ts";
import { deployments } from "./deployments.ts";
import { graphql } from "./graphql.ts";
import { clientOf, type GitHubPerson, type People, people } from "./people.ts";
import type { Pulls } from "./pulls.ts";
import { type RepositoryApi, repositoryApi } from "./repositoryapi.ts";
import type { Restrictions } from "./restrictions.ts";
import { type Seed, type SeededApp, user } from "./seed.ts";
import { commitStatuses } from "./statuses.ts";
import type { Timelines } from "./timeline.ts";
import type { Caller, Tokens } from "./tokens.ts";
import { type UserRequest, userApi, userRequests } from "./userrequests.ts";

/** Dependencies of the API. */
export interface ApiParts {
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  readonly seed: Seed;
  readonly created: CreatedApps;
  /** People who can log in with an App. */
  readonly people: readonly GitHubPerson[];
  readonly deliveries: Deliveries;
  readonly pulls: Pulls;
  readonly restrictions: Restrictions;
  readonly timelines: Timelines;
  readonly tokens: Tokens;
  /** Prefix of API links. */
  readonly apiUrl: string;
}

/** The API. */
export interface Api {
  /** Answers a client. */
  answer(call: ApiCall): Promise<ApiAnswer>;
  /** Sends a request of the user, who needs no installation token. */
  readonly request: UserRequest;
  /** People who have logged in with an App. */
  readonly people: People;
}

const pullsPath = /^\/repos\/[^/]+\/[^/]+\/pulls(\/\d+)?($|\?)/;

/** Assembles the API. */
export function api(parts: ApiParts): Api {
  const { seed, pulls, tokens, apiUrl } = parts;
  const login = ({ app }: Caller) => botOf(seed.apps, app) ?? user.login;
  const repositories = repositoryEndpoints(parts, login);
  const endpoints = otherEndpoints(parts, login);
  const request = userRequests((call) => answerRepository(parts, repositories, call, call, () => undefined));
  const accounts = people({
    people: parts.people,
    apps: seed.apps,
    repositories: seed.repositories,
    repository: (name) => userApi(request)("GET", `/repos/${name}`),
    apiUrl,
  });
  return {
    request,
    people: accounts,
    async answer(call) {
      const personal = await accounts.answer(call);
      if (personal !== undefined) return personal;
      const admitted = tokens.admit(call);
      if ("status" in admitted) return admitted;
      for (const endpoint of endpoints) {
        const own = await endpoint(call);
        if (own !== undefined) return own;
      }
      const answer = await answerRepository(parts, repositories, call, admitted, (pull) =>
        pulls.markViewed(pull),
      );
      const shown = withClientId(seed.apps, call, await repositories.hide(admitted, answer));
      return conditional(call, tokens.issue(call, shown));
    },
  };
}

/** Endpoints of repositories that `emulate` does not have. */
function repositoryEndpoints(
  { ask, pulls, timelines, tokens, apiUrl }: ApiParts,
  login: (caller: Caller) => string,
): RepositoryApi {
  const commits = commitsOf(userRequests(ask), pulls.hasMerge);
  return repositoryApi({
    endpoints: [...commitStatuses(commits.has), ...deployments(commits.resolve), ...timelines.endpoints],
    ...{ ask, tokens, login, apiUrl },
  });
}

/** Endpoints of Apps and tokens that `emulate` does not have, and the restrictions that it ignores. */
function otherEndpoints(
  { ask, created, deliveries, restrictions, tokens }: ApiParts,
  login: (caller: Caller) => string,
): readonly Endpoint[] {
  const request = userRequests(ask);
  return [
    async (call) => {
      const answer = await created.answer(call);
      return answer && tokens.issue(call, answer);
    },
    deliveryList(deliveries, async (headers) => {
      const call = { method: "GET", path: "/app", headers, body: Buffer.alloc(0) };
      return (await created.answer(call)) ?? ask(call);
    }),
    tokens.revoke,
    graphql(tokens, login),
    (call) => restrictions.answer(call, (path) => pullOfComment(request, path)),
  ];
}

async function pullOfComment(request: UserRequest, path: string): Promise<number> {
  const { body } = await request("GET", path);
  return Number(/\d+$/.exec(JSON.parse(body.toString()).issue_url ?? "")?.[0]);
}

/** Adds the OAuth client to the description of an App, which `emulate` leaves out. */
function withClientId(apps: readonly SeededApp[], call: ApiCall, answer: ApiAnswer): ApiAnswer {
  if (call.method !== "GET" || call.path !== "/app" || answer.status !== 200) return answer;
  const described = JSON.parse(answer.body.toString()) as { id: number };
  const app = apps.find(({ id }) => id === described.id);
  return { ...answer, body: JSON.stringify({ ...described, client_id: app && clientOf(app).clientId }) };
}

/** Login of the bot user of an App. */
const botOf = (apps: readonly SeededApp[], id: number | undefined): string | undefined => {
  const app = apps.find((one) => one.id === id);
  return app && `${app.slug}[bot]`;
};

/** Answers a call about a repository. `viewed` is called with a pull request that a GET returned. */
async function answerRepository(
  { ask, pulls }: Pick<ApiParts, "ask" | "pulls">,
  repositories: RepositoryApi,
  call: ApiCall,
  admitted: ApiCall,
  viewed: (pull: unknown) => void,
): Promise<ApiAnswer> {
  const own = await repositories.answer(call, admitted);
  if (own !== undefined) return own;
  const answer = await ask(admitted);
  if (!pullsPath.test(call.path) || answer.status >= 300) return answer;
  const value: unknown = JSON.parse(answer.body.toString());
  pulls.correct(value);
  if (call.method === "GET") viewed(value);
  return { ...answer, body: JSON.stringify(value) };
}

/**
 * Adds an ETag, the hash of the body, and answers 304 if the client already has it. `emulate` has no conditional requests.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
function conditional({ method, headers }: ApiCall, answer: ApiAnswer): ApiAnswer {
  if (method !== "GET" || answer.status !== 200) return answer;
  const etag = `W/"${createHash("sha256").update(answer.body).digest("hex")}"`;
  const known = (headers["if-none-match"] ?? "").split(/\s*,\s*/).includes(etag);
  return known
    ? { status: 304, headers: { etag }, body: "" }
    : { ...answer, headers: { ...answer.headers, etag } };
}
