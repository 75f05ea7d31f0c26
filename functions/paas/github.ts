/** Speaking to GitHub about a repository, with the token that a Secret of the namespace has. */
import { optInCommands } from "../../bus/domain.ts";
import { allowedApiUrl, allowedUrlsIn } from "../../bus/github/allowed.ts";
import { urlReason, withGitHub } from "../../bus/github/blocked.ts";
import { etagCache } from "../../bus/github/etags.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { type GitHubRepositoryClient, githubRepository } from "../../bus/github/repository.ts";
import { GitHubUrlError } from "../../bus/github/url.ts";
import { isForbidden } from "../../bus/kube/errors.ts";
import { Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
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

/** A repository, and the address that it is cloned from. */
export interface Repository {
  readonly client: GitHubRepositoryClient;
  readonly url: string;
}

/** Reads a Secret of the namespace. Throws a `BlockedError` when there is none, or nobody may. */
export async function secretOf(
  name: string,
  { key, live }: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject>> {
  const found = await live.get(Secret, name).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw new BlockedError(
      "SecretAccessDenied",
      `expected to read the Secret ${name} in ${key.namespace}, which the API server refuses. Opt the namespace in: ${optInCommands(key.namespace)}`,
      patience,
      { cause: error },
    );
  });
  if (found !== undefined) return found;
  throw new BlockedError(
    "SecretNotFound",
    `expected the Secret ${name} in ${key.namespace}, found none. Create it, or the Installation that keeps it.`,
    patience,
  );
}

/** The value of a key. Throws a `BlockedError` when there is none. */
export function valueIn({ metadata: { name }, data = {} }: Stored<SecretObject>, key: string): string {
  const encoded = data[key];
  const value = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().trim();
  if (value !== "") return value;
  throw new BlockedError(
    "SecretInvalid",
    `expected the key ${key} in the Secret ${name}, found ${Object.keys(data).join(", ") || "none"}`,
    patience,
  );
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

/** Opens a repository. Throws a `BlockedError` that says what is missing. */
export async function repositoryOf(
  { owner, repo, secretName }: RepositoryRef,
  site: Config["github"],
  ctx: Pick<Context, "key" | "live">,
): Promise<Repository> {
  const secret = await secretOf(secretName, ctx);
  const token = valueIn(secret, tokenKey);
  const url = githubUrlOf(secret, site);
  const allowed = allowedBy(site);
  const client = await withGitHub("Token", async () =>
    githubRepository({ url, allowed, owner, name: repo, token, limits, etags }),
  );
  return { client, url: `${url}/${owner}/${repo}` };
}
