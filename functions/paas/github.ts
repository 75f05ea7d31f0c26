/** GitHub clients for a repository, with the token in a Secret of the namespace. */
import { BlockedError, type Context, type SecretObject, type Stored } from "denrei";
import {
  allowedApiUrl,
  allowedUrlsIn,
  etagCache,
  type GitHubRepositoryClient,
  GitHubUrlError,
  githubRepository,
  type PullRequest,
  rateLimits,
  urlReason,
  withGitHub,
} from "denrei/github";
import { type Access, type ApiToken, apiTokenOf, hasApiTokens, Installation } from "../ghapp/apitoken.ts";
import { credentialsOf, gitHostAnnotation, valueIn } from "./credentials.ts";
import { retryMillis } from "./retry.ts";
import type { Config } from "./site/config.ts";

/** Rate limits and cached answers of GitHub, shared by all objects of this process. */
const limits = rateLimits();
const etags = etagCache({ limitBytes: 64 * 2 ** 20 });

/** The key of a Secret that holds a token. */
const tokenKey = "password";

/** A repository, and the Secret with the token to access it. */
export interface RepositoryRef {
  readonly owner: string;
  readonly repo: string;
  readonly secretName: string;
}

/** The repository that a pull request targets. Rejects with a `GitHubError`. */
export const repositoryOfPull = async (
  { base: { repositoryId: id, repository: fullName } }: PullRequest,
  client: GitHubRepositoryClient,
  signal: AbortSignal,
): Promise<{ readonly id: number; readonly fullName: string }> =>
  id === undefined ? client.repository(signal) : { id, fullName };

/**
 * The web address of the GitHub that a Secret's credentials are for, from its annotation. The token is sent nowhere else. Throws
 * a `BlockedError` when the site does not allow that address.
 */
export function githubUrlOf({ metadata }: Stored<SecretObject>, site: Config["github"]): string {
  const noted = metadata.annotations?.[gitHostAnnotation]?.trim() ?? "";
  const url = (noted.includes("://") ? noted : `https://${noted.replace(/^git@/, "")}`).replace(/\/+$/, "");
  return expectAllowed(url, site, `the annotation ${gitHostAnnotation} of the Secret ${metadata.name}`);
}

/** Returns the address if the site allows requests to it. Throws a `BlockedError` that begins with `where`. */
export function expectAllowed(url: string, site: Config["github"], where: string): string {
  try {
    allowedApiUrl(url, allowedBy(site));
    return url;
  } catch (error) {
    if (!(error instanceof GitHubUrlError)) throw error;
    throw new BlockedError(urlReason(error), `${where}: ${error.message}`, retryMillis, { cause: error });
  }
}

const allowedBy = ({ url, allowed }: Config["github"]): string[] => [
  url,
  ...allowed,
  ...allowedUrlsIn(process.env),
];

/**
 * Opens a repository, to read it or also to write reports to it. If an Installation with `apiPermissions` maintains the Secret,
 * its token is for builds alone, and this worker asks GitHub with a token that it mints. Throws a `BlockedError` that names the
 * missing part.
 */
export async function repositoryOf(
  { owner, repo, secretName }: RepositoryRef,
  site: Config["github"],
  access: Access,
  ctx: Context,
): Promise<GitHubRepositoryClient> {
  const installation = await installationOf(secretName, ctx);
  const { token, url, reject } =
    installation === undefined
      ? await storedToken(secretName, site, ctx)
      : await apiTokenOf(installation, access, ctx);
  const allowed = allowedBy(site);
  return withGitHub("Token", async () =>
    githubRepository({ url, allowed, owner, name: repo, token, limits, etags, onUnauthorized: reject }),
  );
}

/** The Installation that maintains the Secret, if it lets functions mint their own tokens. */
async function installationOf(name: string, { read }: Context): Promise<Stored<Installation> | undefined> {
  const found = await read.get(Installation, name);
  return found !== undefined && hasApiTokens(found) ? found : undefined;
}

async function storedToken(
  name: string,
  site: Config["github"],
  ctx: Context,
): Promise<Pick<ApiToken, "token" | "url"> & Partial<ApiToken>> {
  const secret = await credentialsOf(name, "git", ctx);
  return { token: valueIn(secret, tokenKey), url: githubUrlOf(secret, site) };
}
