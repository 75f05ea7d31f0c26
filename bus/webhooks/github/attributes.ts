/**
 * The attributes of GitHub's webhooks, as the GitHub adapter of the CloudEvents project defines them.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/adapters/github.md
 */
import type { AttributeFields } from "../provider.ts";
import type { WebhookEventName, WebhookPayload } from "./payloads.ts";

/** Paths of the fields of an object. */
type Field<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]-?: K | `${K}.${Field<T[K]>}` }[keyof T & string]
    : never;

/** Attributes from fields with this path. */
type FieldsOf<F extends string> = {
  readonly [A in keyof Omit<AttributeFields, "strict">]: A extends "type" ? string : readonly F[];
};

const repository = { owner: ["repository.owner.login"], repository: ["repository.name"] } as const;
const inRepository = { ...repository, source: ["repository.url"] } as const;
const installation = {
  ending: ["action"],
  // The specification has only the first one, which enterprises lack.
  source: ["installation.account.url", "installation.account.html_url", "installation.html_url"],
  subject: ["installation.id"],
  time: ["installation.updated_at"],
  owner: ["installation.account.login", "installation.account.slug"],
} as const;

/** The events with a schema. */
const known: { readonly [E in WebhookEventName]: FieldsOf<Field<WebhookPayload<E>>> } = {
  push: { ...inRepository, type: "com.github.push", subject: ["ref"] },
  pull_request: {
    ...inRepository,
    type: "com.github.pull_request",
    ending: ["action"],
    subject: ["number"],
    time: ["pull_request.updated_at"],
  },
  installation: { ...installation, type: "com.github.installation" },
  installation_repositories: { ...installation, type: "com.github.installation_repository" },
  repository: {
    ...repository,
    type: "com.github.repository",
    ending: ["action"],
    source: ["repository.owner.url", "repository.url"],
    subject: ["repository.name"],
    time: ["repository.updated_at"],
  },
  // Not in the specification: modeled on the two above.
  installation_target: {
    type: "com.github.installation_target",
    ending: ["action"],
    source: ["account.url", "account.html_url"],
    subject: ["installation.id"],
    owner: ["account.login", "account.slug"],
  },
  check_suite: {
    ...inRepository,
    type: "com.github.check_suite",
    ending: ["action"],
    subject: ["check_suite.id"],
    time: ["check_suite.updated_at"],
  },
  check_run: {
    ...inRepository,
    type: "com.github.check_run",
    ending: ["action"],
    subject: ["check_run.id"],
    time: ["check_run.completed_at", "check_run.started_at"],
  },
  delete: { ...inRepository, type: "com.github.delete", ending: ["ref_type"], subject: ["ref"] },
  issue_comment: {
    ...repository,
    type: "com.github.issue_comment",
    ending: ["action"],
    source: ["issue.url"],
    subject: ["comment.id"],
    time: ["comment.updated_at"],
  },
};

/** The attributes of an event. */
export function githubAttributes(event: string): AttributeFields {
  if (!Object.hasOwn(known, event)) return othersOf(event);
  const fields: AttributeFields = { ...known[event as WebhookEventName], strict: true };
  // Old payloads of pushes have the owner's name and no login.
  return event === "push" ? { ...fields, owner: [...(fields.owner ?? []), "repository.owner.name"] } : fields;
}

/** Events without a schema, whose object has their name: `release.id`, `issue.number`. */
const othersOf = (event: string): AttributeFields => {
  const object = event === "issues" ? "issue" : event;
  return {
    type: `com.github.${event}`,
    ending: ["action"],
    source: ["repository.url", "organization.url", "enterprise.html_url", "installation.account.url"],
    subject: [`${object}.number`, `${object}.id`, "pull_request.number", "issue.number", "ref"],
    owner: [
      "repository.owner.login",
      "organization.login",
      "enterprise.slug",
      "installation.account.login",
      "installation.account.slug",
    ],
    repository: ["repository.name"],
  };
};
