/** Gitea and Forgejo: https://docs.gitea.com/usage/webhooks */
import { z } from "zod";
import { builtInProvider, type EventSchemas, type Provider } from "../provider.ts";
import { person, repositoryFields } from "../repositoryfields.ts";
import { signatures } from "../signatures.ts";

/** The name of an event, as in the header `X-Gitea-Event`. */
export type GiteaEventName =
  | "create"
  | "delete"
  | "fork"
  | "issue_comment"
  | "issues"
  | "package"
  | "pull_request"
  | "pull_request_approved"
  | "pull_request_comment"
  | "pull_request_rejected"
  | "push"
  | "release"
  | "repository"
  | "schedule"
  | "status"
  | "wiki"
  | "workflow_job"
  | "workflow_run";

const repository = repositoryFields.extend({ html_url: z.string() });
const branch = z.object({
  ref: z.string(),
  sha: z.string(),
  /** Null for a deleted fork. */
  repo: z.object({ full_name: z.string() }).nullish(),
});

const schemas = {
  push: z.object({ ref: z.string(), before: z.string(), after: z.string(), repository, sender: person }),
  pull_request: z.object({
    action: z.string(),
    number: z.number(),
    pull_request: z.object({
      number: z.number(),
      state: z.string(),
      draft: z.boolean().optional(),
      merged: z.boolean(),
      merge_commit_sha: z.string().nullish(),
      updated_at: z.string().nullish(),
      user: person.nullish(),
      labels: z.array(z.object({ name: z.string() })).nullish(),
      head: branch,
      base: branch,
    }),
    repository,
    sender: person,
  }),
};

/** Gitea and Forgejo. Pushes and pull requests have schemas, and all other events need a `select`. */
export const gitea = builtInProvider({
  name: "gitea",
  signature: signatures.hmac({ header: "X-Gitea-Signature" }),
  event: { header: "X-Gitea-Event" },
  delivery: { header: "X-Gitea-Delivery" },
  attributes: (event) => ({
    type: `io.gitea.${event}`,
    ending: ["action"],
    source: ["repository.html_url", "organization.html_url"],
    subject: ["number", "issue.number", "release.id", "ref"],
    time: event === "pull_request" ? ["pull_request.updated_at"] : [],
    owner: ["repository.owner.login", "organization.username", "organization.login"],
    repository: ["repository.name"],
  }),
  events: schemas as EventSchemas,
  deliveriesAt: "under Recent Deliveries on the page of the webhook",
}) as Provider<GiteaEventName, typeof schemas>;
