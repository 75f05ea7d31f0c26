/**
 * Simulates people who authorize an App, and the API endpoints for their tokens. The package `emulate` ignores PKCE,
 * treats one user as a member of all accounts, and has no `/user/installations`.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
 * https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
 * Not simulated: the device flow, expiring tokens, and scopes, which tokens of GitHub Apps do not have.
 */
import { createHash, randomBytes } from "node:crypto";
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import { escaped, hiddenInputs, page } from "./htmlpage.ts";
import type { SeededApp } from "./seed.ts";

/** A person with an account. */
export interface GitHubPerson {
  readonly login: string;
  /** Full names of the repositories that the person can read. */
  readonly repositories: readonly string[];
  /** Full names of those that the person cannot write to. Defaults to none. */
  readonly readOnly?: readonly string[];
}

/** OAuth client of an App. */
export const clientOf = ({ id, slug }: SeededApp) => ({
  clientId: `Iv23li${id}`,
  clientSecret: `the client secret of ${slug}`,
});

/** Dependencies of the simulated people. */
export interface PeopleParts {
  readonly people: readonly GitHubPerson[];
  readonly apps: readonly SeededApp[];
  /** Full names of all repositories. */
  readonly repositories: readonly string[];
  /** Fetches a repository from the API. */
  readonly repository: (fullName: string) => Promise<object>;
  /** URL of the API. */
  readonly apiUrl: string;
}

/** The simulated people. */
export interface People {
  /** Serves the pages and the token endpoint below `/login/oauth`. */
  login(call: ApiCall): ApiAnswer;
  /** Answers calls with a person's token, and Apps that revoke such a token; undefined for all other calls. */
  answer(call: ApiCall): Promise<ApiAnswer | undefined>;
  /** Revokes all tokens of a person, as people can do in their settings. */
  revoke(login: string): void;
}

interface Code {
  readonly login: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** GitHub's OAuth errors have status 200. */
const oauthError = (error: string, error_description: string): ApiAnswer =>
  json(200, { error, error_description });

/** Issued codes and tokens. */
interface State {
  readonly parts: PeopleParts;
  readonly codes: Map<string, Code>;
  readonly tokens: Map<string, { readonly login: string; readonly app: SeededApp }>;
}

/** Creates the login pages and the endpoints. */
export function people(parts: PeopleParts): People {
  const state: State = { parts, codes: new Map(), tokens: new Map() };
  return {
    login({ method, path, body }) {
      const [pathname, query] = path.split("?", 2);
      const form = new URLSearchParams(body.toString());
      if (pathname === "/login/oauth/authorize")
        return method === "POST" ? decide(state, form) : authorize(state, new URLSearchParams(query));
      if (pathname === "/login/oauth/access_token" && method === "POST") return exchange(state, form);
      return page(404, "<h1>404</h1>");
    },
    async answer(call) {
      const client = /^\/applications\/([^/]+)\/token$/.exec(call.path)?.[1];
      if (client !== undefined && call.method === "DELETE") return revokeToken(state, client, call);
      const token = /^bearer (ghu_\S+)$/i.exec(call.headers.authorization ?? "")?.[1];
      return token === undefined ? undefined : answerUser(state, call.path, token);
    },
    revoke(login) {
      for (const [token, user] of state.tokens) if (user.login === login) state.tokens.delete(token);
    },
  };
}

const appOf = ({ parts }: State, clientId: string | null): SeededApp | undefined =>
  parts.apps.find((app) => clientOf(app).clientId === clientId);

function authorize(state: State, query: URLSearchParams): ApiAnswer {
  const app = appOf(state, query.get("client_id"));
  if (app === undefined) return page(404, "<h1>404</h1>");
  if (!app.callbackUrls.includes(query.get("redirect_uri") ?? ""))
    return page(400, "<h1>The redirect_uri is not associated with this application.</h1>");
  const buttons = state.parts.people
    .map(({ login }) => `<button name="login" value="${login}">Authorize as ${login}</button>`)
    .join("");
  return page(
    200,
    `<h1>${escaped(app.slug)}</h1><form method="post">${hiddenInputs(query)}${buttons}<button name="login" value="">Cancel</button></form>`,
  );
}

function decide(state: State, form: URLSearchParams): ApiAnswer {
  const [clientId, redirectUri] = [form.get("client_id") ?? "", form.get("redirect_uri") ?? ""];
  if (!appOf(state, clientId)?.callbackUrls.includes(redirectUri)) return page(400, "<h1>400</h1>");
  const back = new URL(redirectUri);
  const login = form.get("login") ?? "";
  if (login === "") back.searchParams.set("error", "access_denied");
  else {
    const code = randomBytes(10).toString("hex");
    state.codes.set(code, { login, clientId, redirectUri, challenge: form.get("code_challenge") ?? "" });
    back.searchParams.set("code", code);
  }
  back.searchParams.set("state", form.get("state") ?? "");
  return { status: 302, headers: { location: back.href }, body: "" };
}

function exchange(state: State, form: URLSearchParams): ApiAnswer {
  const app = appOf(state, form.get("client_id"));
  if (app === undefined || clientOf(app).clientSecret !== form.get("client_secret"))
    return oauthError(
      "incorrect_client_credentials",
      "The client_id and/or client_secret passed are incorrect.",
    );
  const code = state.codes.get(form.get("code") ?? "");
  state.codes.delete(form.get("code") ?? "");
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  if (code === undefined || code.clientId !== form.get("client_id") || code.challenge !== challenge)
    return oauthError("bad_verification_code", "The code passed is incorrect or expired.");
  if (code.redirectUri !== form.get("redirect_uri"))
    return oauthError("redirect_uri_mismatch", "The code was issued for another redirect_uri.");
  const token = `ghu_${randomBytes(27).toString("base64url").replaceAll(/[-_]/g, "x")}`;
  state.tokens.set(token, { login: code.login, app });
  return json(200, { access_token: token, token_type: "bearer", scope: "" });
}

/** All repositories of an installation, whether or not the person can read them. */
const repositoriesOf = (
  { parts }: Pick<State, "parts">,
  { account, repositories }: SeededApp["installations"][number],
) =>
  repositories === "all"
    ? parts.repositories.filter((name) => name.split("/", 1)[0] === account)
    : repositories;

async function answerUser(
  { parts, tokens }: State,
  path: string,
  token: string,
): Promise<ApiAnswer | undefined> {
  const [pathname = "", query] = path.split("?", 2);
  const user = tokens.get(token);
  if (user === undefined) return problem(401, "Bad credentials");
  const { repositories: readable = [], readOnly = [] } =
    parts.people.find(({ login }) => login === user.login) ?? {};
  const accessible = user.app.installations
    .map((installation) => ({
      installation,
      names: repositoriesOf({ parts }, installation).filter((name) => readable.includes(name)),
    }))
    .filter(({ installation, names }) => names.length > 0 || installation.account === user.login);
  if (pathname === "/user") return json(200, { login: user.login, id: idOf(user.login), type: "User" });
  if (pathname === "/user/installations") {
    const all = accessible.map(({ installation }) => installationOf(user.app, installation, user.login));
    return paged(parts.apiUrl, pathname, query, "installations", all);
  }
  const id = /^\/user\/installations\/(\d+)\/repositories$/.exec(pathname)?.[1];
  if (id === undefined) return problem(403, "Resource not accessible by integration");
  const found = accessible.find(({ installation }) => installation.id === Number(id));
  if (found === undefined) return problem(404, "Not Found");
  const repositories = found.names.map(async (name) => ({
    ...(await parts.repository(name)),
    permissions: { admin: false, push: !readOnly.includes(name), pull: true },
  }));
  return paged(parts.apiUrl, pathname, query, "repositories", await Promise.all(repositories));
}

function paged(
  apiUrl: string,
  pathname: string,
  query: string | undefined,
  field: string,
  all: readonly object[],
): ApiAnswer {
  const params = new URLSearchParams(query);
  const size = Math.min(100, Number(params.get("per_page") ?? 30));
  const number = Number(params.get("page") ?? 1);
  const hasMore = all.length > number * size;
  params.set("page", String(number + 1));
  const link = `<${apiUrl}${pathname}?${params}>; rel="next"`;
  const items = all.slice((number - 1) * size, number * size);
  return json(200, { total_count: all.length, [field]: items }, hasMore ? { link } : {});
}

/** `DELETE /applications/{client_id}/token`, called by the App itself. */
function revokeToken(state: State, clientId: string, { headers, body }: ApiCall): ApiAnswer {
  const app = appOf(state, clientId);
  const basic = app && Buffer.from(`${clientId}:${clientOf(app).clientSecret}`).toString("base64");
  if (basic === undefined || headers.authorization !== `Basic ${basic}`)
    return problem(401, "Bad credentials");
  const { access_token: token } = JSON.parse(body.toString()) as { access_token?: string };
  return state.tokens.delete(token ?? "")
    ? { status: 204, headers: {}, body: "" }
    : problem(404, "Not Found");
}

const idOf = (login: string): number => createHash("sha256").update(login).digest().readUInt32BE(0);

function installationOf(
  app: SeededApp,
  installation: SeededApp["installations"][number],
  login: string,
): object {
  const { id, account, repositories } = installation;
  const type = account === login ? "User" : "Organization";
  return {
    id,
    app_id: app.id,
    app_slug: app.slug,
    account: { login: account, id: idOf(account), type },
    target_type: type,
    repository_selection: repositories === "all" ? "all" : "selected",
    permissions: app.permissions,
    events: app.events,
    suspended_at: null,
  };
}
