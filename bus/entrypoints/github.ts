/** `denrei/github`: clients of GitHub's API, for functions. */
import "../nodeversion.ts";

export { allowedApiUrl, allowedUrlsIn, allowedUrlsVariable } from "../github/allowed.ts";
export { accountAnswer, type HookDelivery, type InstallationToken } from "../github/answers.ts";
export { type GitHubAppClient, githubApp } from "../github/app.ts";
export { blockedBy, retryMillis, urlReason, withGitHub } from "../github/blocked.ts";
export { type Answer, githubCalls } from "../github/call.ts";
export {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "../github/errors.ts";
export { etagCache } from "../github/etags.ts";
export { AppKey, PrivateKeyError, parsePrivateKey } from "../github/key.ts";
export { rateLimits } from "../github/limits.ts";
export { pageSize, pagesOf } from "../github/pages.ts";
export type { PullRequest } from "../github/pullrequest.ts";
export type { CommitStatus, DeploymentStatus } from "../github/reports.ts";
export { type GitHubRepositoryClient, githubRepository } from "../github/repository.ts";
export type { TimelineEvent } from "../github/timeline.ts";
export { tokenCaller } from "../github/token.ts";
export { GitHubUrlError, githubApiUrl } from "../github/url.ts";
export { refusedForGood } from "../webhooks/answers.ts";
