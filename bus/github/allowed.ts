/**
 * Which GitHubs the platform speaks to. Addresses are written by users, and a request goes out with credentials, from inside the
 * cluster: so it goes to github.com, to GHE.com, and to what an operator names, and nowhere else.
 */
import { GitHubUrlError, githubApiUrl, isGitHubCloud } from "./url.ts";

/** Where an operator names further GitHubs: web addresses, separated by commas. */
export const allowedUrlsVariable = "DENREI_GITHUB_ALLOWED_URLS";

/** The address is that of no GitHub that the platform may speak to. Nothing was sent there. */
export class GitHubNotAllowedError extends GitHubUrlError {
  override readonly name = "GitHubNotAllowedError";
}

/** The web addresses that the environment names. Throws a `GitHubUrlError` for one that is none. */
export function allowedUrlsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const urls = (env[allowedUrlsVariable] ?? "")
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "");
  for (const url of urls) githubApiUrl(url);
  return urls;
}

/**
 * The base URL of the API of an allowed GitHub. Throws a {@link GitHubNotAllowedError} for another one and for clear text that
 * is not allowed by name, and a `GitHubUrlError` for what is no address of a GitHub.
 */
export function allowedApiUrl(
  url: string | undefined,
  allowed: readonly string[] = allowedUrlsIn(process.env),
): string {
  const base = githubApiUrl(url);
  if (isGitHubCloud(base)) {
    if (!url?.trim().toLowerCase().startsWith("http:")) return base;
    throw new GitHubNotAllowedError(
      `${url.trim()} is not encrypted, so nothing is sent there. Write it with https.`,
    );
  }
  if (allowed.some((one) => githubApiUrl(one) === base)) return base;
  const { origin } = new URL(base);
  throw new GitHubNotAllowedError(
    `${origin} is no GitHub that the platform may speak to, so nothing is sent there. Use https://github.com, or have an operator ` +
      `add its web address to ${allowedUrlsVariable} of the workers.`,
  );
}
