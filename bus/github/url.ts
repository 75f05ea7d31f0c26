/** Finds the API of a GitHub from its web address. */

/** The URL is not a GitHub's. The message omits user, password, and query. */
export class GitHubUrlError extends Error {
  override readonly name: string = "GitHubUrlError";
}

const noGitHub = (found: string): GitHubUrlError =>
  new GitHubUrlError(
    `expected the web address of a GitHub such as https://github.example.com, found ${found}. ` +
      "Correct url, or leave it out for github.com.",
  );

const publicApi = "https://api.github.com";
const publicHosts: ReadonlySet<string> = new Set(["github.com", "www.github.com", "api.github.com"]);
const serverPath = "/api/v3";

/**
 * The base URL of the REST API, without a trailing slash. An empty URL and github.com give `https://api.github.com`;
 * GHE.com (data residency) gives the host prefixed with `api.`; any other host is a GitHub Enterprise Server, whose path prefix
 * is kept and gets `/api/v3` if it lacks it. Throws {@link GitHubUrlError}.
 */
export function githubApiUrl(url = ""): string {
  const text = url.trim();
  if (text === "") return publicApi;
  if (!URL.canParse(text)) throw noGitHub(`${JSON.stringify(withoutSecrets(text))}, which is no URL`);
  const { protocol, username, password, host, origin, pathname } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") throw noGitHub(`the scheme ${protocol}`);
  if (username !== "" || password !== "") throw noGitHub("a user or a password in the URL");
  if (/[?#]/.test(text)) throw noGitHub("a query or a fragment in the URL");
  const path = pathname.replace(/\/+$/, "");
  const cloud = cloudApi(host);
  if (cloud === undefined) return `${origin}${path.endsWith(serverPath) ? path : `${path}${serverPath}`}`;
  if (path !== "") throw noGitHub(`a path in ${JSON.stringify(text)}`);
  return cloud;
}

/** Whether the base URL is one of GitHub's own servers. */
export const isGitHubCloud = (base: string): boolean => base === cloudApi(new URL(base).host);

/** https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom */
function cloudApi(host: string): string | undefined {
  if (publicHosts.has(host)) return publicApi;
  const enterprise = /^(?:api\.)?([^.]+\.ghe\.com)$/.exec(host)?.[1];
  return enterprise && `https://api.${enterprise}`;
}

const withoutSecrets = (text: string): string => text.replace(/^.*@/s, "***@").replace(/[?#].*$/s, "");

/**
 * The path of GraphQL: below the base URL of the REST API, or, on a GitHub Enterprise Server, a separate URL.
 * https://docs.github.com/en/enterprise-server@latest/graphql/guides/forming-calls-with-graphql#the-graphql-endpoint
 */
export const graphqlPath = (base: string): string =>
  base.endsWith(serverPath) ? `${base.slice(0, -"/v3".length)}/graphql` : "/graphql";
