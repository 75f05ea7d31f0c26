/**
 * The parts of GitHub's webhook payloads that may go on the bus, in GitHub's own shape. Everything else is dropped: titles,
 * bodies, e-mail addresses, and names of people never leave the process that receives them.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
import { z } from "zod";
import { person, repositoryFields } from "../repositoryfields.ts";

const pullRequests = z.array(z.object({ number: z.number() }));
const app = z.object({ id: z.number().nullable() }).nullish();

const repository = repositoryFields.extend({ url: z.string() });

const sender = z.object({ login: z.string(), type: z.string() }).optional();

/** Fields of all payloads about a repository. */
const inRepository = { repository, installation: z.object({ id: z.number() }).nullish(), sender };

/** Users and organizations have a login, enterprises a slug. Null for a deleted account. */
const account = z
  .union([
    z.object({
      login: z.string(),
      url: z.string().optional(),
      html_url: z.string().optional(),
      type: z.string().optional(),
    }),
    z.object({ slug: z.string(), html_url: z.string().optional() }),
  ])
  .nullable();
const installation = z.object({
  id: z.number(),
  app_id: z.number(),
  app_slug: z.string().optional(),
  account,
  /** Its settings page. */
  html_url: z.string().optional(),
  repository_selection: z.string(),
  suspended_at: z.string().nullish(),
  /** Seconds since the epoch in some payloads, RFC 3339 in others. */
  updated_at: z.union([z.number(), z.string()]),
});

/** GitHub's schema allows the names to be absent, although no example lacks them. */
const repositories = z.array(z.object({ id: z.number(), full_name: z.string().optional() }));

/**
 * The schemas of events that functions need not select fields of. Unknown fields are dropped, not rejected. Fields that GitHub's OpenAPI description allows
 * to be null or absent may be so here, except the owners of repositories, which address events.
 */
export const webhookPayloads = {
  push: z.object({
    ...inRepository,
    /** Old payloads have the owner's name and no login. */
    repository: repository.extend({
      owner: z.union([person, z.object({ name: z.string() }).transform(({ name }) => ({ login: name }))]),
    }),
    ref: z.string(),
    before: z.string(),
    after: z.string(),
    created: z.boolean(),
    deleted: z.boolean(),
    forced: z.boolean(),
  }),
  pull_request: z.object({
    ...inRepository,
    action: z.string(),
    number: z.number(),
    pull_request: z.object({
      number: z.number(),
      state: z.string(),
      draft: z.boolean().optional(),
      merged: z.boolean().nullish(),
      merge_commit_sha: z.string().nullable(),
      updated_at: z.string(),
      author_association: z.string().optional(),
      /** Null for a deleted account. */
      user: person.nullable(),
      labels: z.array(z.object({ name: z.string() })),
      head: z.object({
        ref: z.string(),
        sha: z.string(),
        /** Null for a deleted fork. */
        repo: z.object({ full_name: z.string() }).nullable(),
      }),
      base: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }) }),
    }),
  }),
  installation: z.object({ action: z.string(), installation, sender }),
  installation_repositories: z.object({
    action: z.string(),
    installation,
    sender,
    repository_selection: z.string(),
    repositories_added: repositories,
    repositories_removed: repositories,
  }),
  /** An account with an installation of the App was renamed. */
  installation_target: z.object({
    action: z.string(),
    account,
    installation: z.object({ id: z.number() }),
    target_type: z.string(),
    sender,
    /** The former login of a user or an organization, or the former slug of an enterprise. */
    changes: z
      .object({
        login: z.object({ from: z.string() }).nullish(),
        slug: z.object({ from: z.string() }).nullish(),
      })
      .nullish(),
  }),
  repository: z.object({
    ...inRepository,
    repository: repository.extend({
      owner: person.extend({ url: z.string().optional() }),
      updated_at: z.string().nullish(),
    }),
    action: z.string(),
    /** The former name or owner of a renamed or transferred repository. */
    changes: z
      .object({
        repository: z.object({ name: z.object({ from: z.string() }) }).nullish(),
        owner: z
          .object({ from: z.object({ user: person.nullish(), organization: person.nullish() }) })
          .nullish(),
      })
      .nullish(),
  }),
  check_suite: z.object({
    ...inRepository,
    action: z.string(),
    check_suite: z.object({
      id: z.number(),
      head_sha: z.string(),
      head_branch: z.string().nullable(),
      status: z.string().nullable(),
      conclusion: z.string().nullable(),
      updated_at: z.string(),
      pull_requests: pullRequests,
      app,
    }),
  }),
  check_run: z.object({
    ...inRepository,
    action: z.string(),
    check_run: z.object({
      id: z.number(),
      name: z.string(),
      head_sha: z.string(),
      status: z.string(),
      conclusion: z.string().nullable(),
      started_at: z.string().nullish(),
      completed_at: z.string().nullable(),
      pull_requests: pullRequests,
      app,
      check_suite: z.object({ id: z.number().optional(), head_branch: z.string().nullish() }).nullish(),
    }),
  }),
  delete: z.object({ ...inRepository, ref: z.string(), ref_type: z.string() }),
  issue_comment: z.object({
    ...inRepository,
    action: z.string(),
    issue: z.object({
      number: z.number(),
      url: z.string(),
      state: z.string().optional(),
      /** Set if the issue is a pull request. */
      pull_request: z.object({ url: z.string().optional() }).nullish(),
    }),
    comment: z.object({
      id: z.number(),
      updated_at: z.string(),
      author_association: z.string().optional(),
      /** Null for a deleted account. */
      user: person.nullable(),
    }),
  }),
};

/** Events with a schema, by the name in the header `X-GitHub-Event`. */
export type WebhookEventName = keyof typeof webhookPayloads;

/** The reduced payload of an event. */
export type WebhookPayload<E extends WebhookEventName> = z.output<(typeof webhookPayloads)[E]>;

/** Names of the events with a schema. */
export const webhookEventNames = Object.keys(webhookPayloads) as readonly WebhookEventName[];
