/** Speaking to GitHub about a repository, with the token that a Secret of the namespace has. */
import { optInCommands } from "../../bus/domain.ts";
import { allowedApiUrl, allowedUrlsIn } from "../../bus/github/allowed.ts";
import { urlReason, withGitHub } from "../../bus/github/blocked.ts";
import { etagCache } from "../../bus/github/etags.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import type { PullRequest } from "../../bus/github/pullrequest.ts";
import { type GitHubRepositoryClient, githubRepository } from "../../bus/github/repository.ts";
import { GitHubUrlError } from "../../bus/github/url.ts";
import { isForbidden } from "../../bus/kube/errors.ts";
import { Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import { type Access, type ApiToken, apiTokenOf, hasApiTokens, Installation } from "../ghapp/apitoken.ts";
import { patience } from "./problems.ts";
import type { Config } from "./site/config.ts";

/** What GitHub asked this process to wait for, and what it answered before, whichever object it was about. */
const limits = rateLimits();
const etags = etagCache({ limitBytes: 64 * 2 ** 20 });

/** The key of a Secret that holds a token. */
const tokenKey = "password";
/** Of a Secret for kpack: which host its credentials are for. https://github.com/buildpacks-community/kpack/blob/main/docs/secrets.md */
const hostAnnotation = "kpack.io/git";

/** Where a repository is, and what it is asked with. */
export interface RepositoryRef {
  readonly owner: string;
  readonly repo: string;
  readonly secretName: string;
}

/** The repository that a pull request is made to. Rejects with a `GitHubError`. */
export const repositoryOfPull = async (
  { base: { repositoryId: id, repository: fullName } }: PullRequest,
  client: GitHubRepositoryClient,
  signal: AbortSignal,
): Promise<{ readonly id: number; readonly fullName: string }> =>
  id === undefined ? client.repository(signal) : { id, fullName };

/** Reads a Secret of the namespace, if there is one. Throws a `BlockedError` when it may not be read. */
export async function findSecret(
  name: string,
  { key, live }: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject> | undefined> {
  return live.get(Secret, name).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw new BlockedError(
      "SecretAccessDenied",
      `expected to read the Secret ${name} in ${key.namespace}, which the API server refuses. Opt the namespace in: ${optInCommands(key.namespace)}`,
      patience,
      { cause: error },
    );
  });
}

/**
 * Reads a Secret with a token. A Secret without the key, and without the annotation that declares it for git, is treated as missing:
 * a user must not learn here which other Secrets exist. Throws a `BlockedError` for a missing one.
 */
export async function secretOf(
  name: string,
  ctx: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject>> {
  const found = await findSecret(name, ctx);
  const isMeant = found?.metadata.annotations?.[hostAnnotation] || found?.data?.[tokenKey];
  if (found !== undefined && isMeant) return found;
  throw new BlockedError(
    "SecretNotFound",
    `found no Secret ${name} in ${ctx.key.namespace} with a token under the key ${tokenKey}. Create it, or the Installation that keeps it.`,
    patience,
  );
}

/** The value of a key. Throws a `BlockedError` for a missing key, without naming the other keys. */
export function valueIn({ metadata: { name }, data = {} }: Stored<SecretObject>, key: string): string {
  const encoded = data[key];
  const value = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().trim();
  if (value !== "") return value;
  throw new BlockedError("SecretInvalid", `the Secret ${name} has nothing under the key ${key}`, patience);
}

/**
 * The web address of the GitHub that a Secret's credentials are for: where its annotation says, else the site's. A token is
 * sent nowhere else. Throws a `BlockedError` when nothing may be sent there.
 */
export function githubUrlOf({ metadata }: Stored<SecretObject>, site: Config["github"]): string {
  const noted = metadata.annotations?.[hostAnnotation]?.trim() ?? "";
  const url =
    noted === ""
      ? site.url
      : (noted.includes("://") ? noted : `https://${noted.replace(/^git@/, "")}`).replace(/\/+$/, "");
  try {
    allowedApiUrl(url, allowedBy(site));
    return url;
  } catch (error) {
    if (!(error instanceof GitHubUrlError)) throw error;
    const where = noted === "" ? "" : `the annotation ${hostAnnotation} of the Secret ${metadata.name}: `;
    throw new BlockedError(urlReason(error), `${where}${error.message}`, patience, { cause: error });
  }
}

const allowedBy = ({ url, allowed }: Config["github"]): string[] => [
  url,
  ...allowed,
  ...allowedUrlsIn(process.env),
];

/**
 * Opens a repository, to read it or also to write reports to it. Where the Secret is that of an Installation with `apiPermissions`,
 * the token in it is for builds alone, and GitHub is asked with one of this worker's own. Throws a `BlockedError` that says what
 * is missing.
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

/** The Installation that keeps the Secret, where functions have tokens of their own. */
async function installationOf(name: string, { read }: Context): Promise<Stored<Installation> | undefined> {
  const found = await read.get(Installation, name);
  return found !== undefined && hasApiTokens(found) ? found : undefined;
}

async function storedToken(
  name: string,
  site: Config["github"],
  ctx: Context,
): Promise<Pick<ApiToken, "token" | "url"> & Partial<ApiToken>> {
  const secret = await secretOf(name, ctx);
  return { token: valueIn(secret, tokenKey), url: githubUrlOf(secret, site) };
}
