/**
 * The GitHub servers that the platform may call. Users write addresses, and requests carry credentials from inside the cluster.
 * So only github.com, GHE.com, and servers that an operator has allowed are called.
 */
import { GitHubUrlError, githubApiUrl, isGitHubCloud } from "./url.ts";

/** Variable with further GitHub servers: web addresses, separated by commas. */
export const allowedUrlsVariable = "DENREI_GITHUB_ALLOWED_URLS";

/** The address is not an allowed GitHub. Nothing was sent to it. */
export class GitHubNotAllowedError extends GitHubUrlError {
  override readonly name = "GitHubNotAllowedError";
}

/** Parses the web addresses in the environment. Throws a `GitHubUrlError` for an invalid one. */
export function allowedUrlsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const urls = (env[allowedUrlsVariable] ?? "")
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "");
  for (const url of urls) githubApiUrl(url);
  return urls;
}

/**
 * The base URL of the API of an allowed GitHub. Throws a {@link GitHubNotAllowedError} for another one, or for clear text that
 * is not explicitly allowed, and a `GitHubUrlError` for an address that is not a GitHub's.
 */
export function allowedApiUrl(
  url: string | undefined,
  allowed: readonly string[] = allowedUrlsIn(process.env),
): string {
  const base = githubApiUrl(url);
  if (isGitHubCloud(base)) {
    if (!url?.trim().toLowerCase().startsWith("http:")) return base;
    throw new GitHubNotAllowedError(`${url.trim()} is not encrypted, so nothing is sent there. Use https.`);
  }
  if (allowed.some((one) => githubApiUrl(one) === base)) return base;
  const { origin } = new URL(base);
  throw new GitHubNotAllowedError(
    `${origin} is not an allowed GitHub, so nothing is sent there. Use https://github.com, or have an operator ` +
      `add its web address to ${allowedUrlsVariable} of the workers.`,
  );
}
