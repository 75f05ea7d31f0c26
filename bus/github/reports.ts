/** Reports to GitHub about a commit or a pull request, and their request bodies. */
import { z } from "zod";
import { redacted } from "../values/redact.ts";

/** https://docs.github.com/en/rest/commits/statuses#create-a-commit-status */
export interface CommitStatus {
  readonly state: "error" | "failure" | "pending" | "success";
  /** Identifies statuses of a commit: the newest of each context counts. */
  readonly context: string;
  /** Cut at 140 characters. */
  readonly description?: string | undefined;
  readonly targetUrl?: string | undefined;
}

/**
 * A temporary deployment: not production, not merged with the default branch, and not blocked by checks.
 * https://docs.github.com/en/rest/deployments/deployments#create-a-deployment
 */
export interface Deployment {
  /** A branch, a tag, or a SHA. */
  readonly ref: string;
  readonly environment: string;
  /** Cut at 140 characters. */
  readonly description?: string | undefined;
}

/** https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status */
export interface DeploymentStatus {
  readonly state: "error" | "failure" | "inactive" | "in_progress" | "queued" | "pending" | "success";
  /** URL of the deployed application. */
  readonly environmentUrl?: string | undefined;
  /** Cut at 140 characters. */
  readonly description?: string | undefined;
  readonly logUrl?: string | undefined;
}

/** A comment on an issue or a pull request. */
export interface Comment {
  readonly id: number;
  readonly body: string;
  /** A login, with `[bot]` for an App; undefined for a deleted account. */
  readonly author: string | undefined;
}

/** An existing deployment. */
export interface FoundDeployment {
  readonly id: number;
  /** Its creator, as in {@link Comment}. */
  readonly author: string | undefined;
}

export const createdAnswer = z.object({ id: z.int() });

const account = z.object({ login: z.string() }).nullish();

export const deploymentsAnswer: z.ZodType<FoundDeployment[]> = z.array(
  z
    .object({ id: z.int(), creator: account })
    .transform(({ id, creator }) => ({ id, author: creator?.login })),
);

/** GraphQL's view of the caller. https://docs.github.com/en/graphql/reference/queries#viewer */
export const viewerQuery = "query { viewer { login } }";
export const viewerAnswer = z
  .object({ data: z.object({ viewer: z.object({ login: z.string() }) }) })
  .transform(({ data }) => data.viewer.login);

export const commentsAnswer: z.ZodType<Comment[]> = z.array(
  z
    .object({
      id: z.int(),
      body: z.string().nullish(),
      user: account,
    })
    .transform(({ id, body, user }) => ({ id, body: body ?? "", author: user?.login })),
);

export const statusBody = ({ state, context, description, targetUrl }: CommitStatus) => ({
  state,
  context,
  ...described(description),
  ...(targetUrl !== undefined && { target_url: targetUrl }),
});

export const deploymentBody = ({ ref, environment, description }: Deployment) => ({
  ref,
  environment,
  ...described(description),
  transient_environment: true,
  production_environment: false,
  auto_merge: false,
  required_contexts: [],
});

export const deploymentStatusBody = ({ state, environmentUrl, description, logUrl }: DeploymentStatus) => ({
  state,
  ...described(description),
  ...(environmentUrl !== undefined && { environment_url: environmentUrl }),
  ...(logUrl !== undefined && { log_url: logUrl }),
  // By default, GitHub marks other deployments of the environment as inactive, including those of other creators.
  auto_inactive: false,
});

/** GitHub rejects longer ones. */
const longestDescription = 140;

function described(description: string | undefined): { readonly description?: string } {
  if (description === undefined) return {};
  // Redact before cutting: half a credential is not recognized.
  const characters = Array.from(redacted(description));
  return {
    description:
      characters.length <= longestDescription
        ? characters.join("")
        : `${characters.slice(0, longestDescription - 1).join("")}…`,
  };
}
