/**
 * `denrei/github`: clients of GitHub's API, for functions.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";

export { allowedApiUrl, allowedUrlsIn, allowedUrlsVariable } from "../github/allowed.ts";
export {
  accountAnswer,
  type GitHubAccount,
  type GitHubInstallation,
  type HookDelivery,
  type InstallationToken,
  type Permissions,
  type RegisteredApp,
} from "../github/answers.ts";
export { type GitHubAppClient, type GitHubAppOptions, githubApp, type TokenScope } from "../github/app.ts";
export { blockedBy, type Credential, retryMillis, urlReason, withGitHub } from "../github/blocked.ts";
export { type Answer, type Call, type Caller, type CallerOptions, githubCalls } from "../github/call.ts";
export {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "../github/errors.ts";
export { type EtagCache, etagCache, type Kept } from "../github/etags.ts";
export { AppKey, PrivateKeyError, parsePrivateKey } from "../github/key.ts";
export { type RateLimits, rateLimits } from "../github/limits.ts";
export { pageSize, pagesOf } from "../github/pages.ts";
export type { PullRequest, Side } from "../github/pullrequest.ts";
export type {
  Comment,
  CommitStatus,
  Deployment,
  DeploymentStatus,
  FoundDeployment,
} from "../github/reports.ts";
export {
  type Branch,
  type Created,
  type GitHubRepositoryClient,
  type GitHubRepositoryOptions,
  githubRepository,
  type RepositoryFacts,
} from "../github/repository.ts";
export type { TimelineEvent } from "../github/timeline.ts";
export { tokenCaller } from "../github/token.ts";
export { GitHubUrlError, githubApiUrl } from "../github/url.ts";
export { refusedForGood } from "../webhooks/answers.ts";
