/**
 * GitHub webhooks as CloudEvents, as the GitHub adapter of the CloudEvents project defines them, but with
 * {@link webhookPayloads reduced} data.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/adapters/github.md
 */
import { CloudEvent, ValidationError } from "cloudevents";
import { newTrace } from "../../tracing/trace.ts";
import { MalformedPayloadError, mismatches, valueAt } from "./malformed.ts";
import { type WebhookEventName, type WebhookPayload, webhookPayloads } from "./payloads.ts";

export { MalformedPayloadError } from "./malformed.ts";

/** A delivery of GitHub with a verified signature. */
export interface WebhookDelivery<E extends WebhookEventName = WebhookEventName> {
  /** The header `X-GitHub-Event`. */
  readonly event: E;
  /** The header `X-GitHub-Delivery`. */
  readonly delivery: string;
  /** The parsed body. Not retained. */
  readonly payload: unknown;
  readonly now: Date;
  /** The trace to continue. Without it the event starts one. */
  readonly traceparent?: string;
}

/** A webhook as an event, with its owner and repository. */
export interface AdaptedWebhook<E extends WebhookEventName = WebhookEventName> {
  readonly event: CloudEvent<WebhookPayload<E>>;
  /** The account's login, or an enterprise's slug, in lower case: GitHub's names are case-insensitive. Empty for a deleted account. */
  readonly owner: string;
  /** The repository's name in lower case; empty for events of an installation. */
  readonly repository: string;
}

/** Paths of the fields of an object. */
type Field<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]-?: K | `${K}.${Field<T[K]>}` }[keyof T & string]
    : never;

/** The fields that become the attributes of an event, from the table in the adapter's specification. */
interface Rule<F extends string> {
  /** The type without its suffix. */
  readonly type: string;
  /** The field with the suffix of the type. */
  readonly ending?: F;
  /** The first field that is set. */
  readonly source: readonly [F, ...F[]];
  readonly subject: F;
  /** The first field that is set; otherwise the current time. */
  readonly time: readonly F[];
  /** The first field that is set; otherwise empty. */
  readonly owner: readonly F[];
  readonly repository?: F;
}

const repository = { owner: ["repository.owner.login"], repository: "repository.name" } as const;
const inRepository = { ...repository, source: ["repository.url"] } as const;
const installation = {
  ending: "action",
  // The specification has only the first one, which enterprises lack.
  source: ["installation.account.url", "installation.account.html_url", "installation.html_url"],
  subject: "installation.id",
  time: ["installation.updated_at"],
  owner: ["installation.account.login", "installation.account.slug"],
} as const;

const rules: { readonly [E in WebhookEventName]: Rule<Field<WebhookPayload<E>>> } = {
  push: { ...inRepository, type: "com.github.push", subject: "ref", time: [] },
  pull_request: {
    ...inRepository,
    type: "com.github.pull_request",
    ending: "action",
    subject: "number",
    time: ["pull_request.updated_at"],
  },
  installation: { ...installation, type: "com.github.installation" },
  installation_repositories: { ...installation, type: "com.github.installation_repository" },
  repository: {
    ...repository,
    type: "com.github.repository",
    ending: "action",
    source: ["repository.owner.url", "repository.url"],
    subject: "repository.name",
    time: ["repository.updated_at"],
  },
  // Not in the specification: modeled on the two above.
  installation_target: {
    type: "com.github.installation_target",
    ending: "action",
    source: ["account.url", "account.html_url"],
    subject: "installation.id",
    time: [],
    owner: ["account.login", "account.slug"],
  },
  check_suite: {
    ...inRepository,
    type: "com.github.check_suite",
    ending: "action",
    subject: "check_suite.id",
    time: ["check_suite.updated_at"],
  },
  check_run: {
    ...inRepository,
    type: "com.github.check_run",
    ending: "action",
    subject: "check_run.id",
    time: ["check_run.completed_at", "check_run.started_at"],
  },
  delete: { ...inRepository, type: "com.github.delete", ending: "ref_type", subject: "ref", time: [] },
  issue_comment: {
    ...repository,
    type: "com.github.issue_comment",
    ending: "action",
    source: ["issue.url"],
    subject: "comment.id",
    time: ["comment.updated_at"],
  },
};

/** Converts a webhook to an event. Throws {@link MalformedPayloadError}. */
export function githubEvent<E extends WebhookEventName>(webhook: WebhookDelivery<E>): AdaptedWebhook<E> {
  const { event: name, delivery, payload, now, traceparent = newTrace() } = webhook;
  const result = webhookPayloads[name].safeParse(payload);
  if (!result.success) throw new MalformedPayloadError(name, mismatches(result.error.issues, payload));
  const data = result.data as WebhookPayload<E>;

  const problems: string[] = [];
  const checked = (field: string, text: string): string => {
    if (!attributeText.test(text))
      problems.push(`${field}: expected text without control characters, found other text or none`);
    return text;
  };
  const fieldOf = (field: string): unknown => valueAt(data, field.split("."));
  const textOf = (field: string): string => checked(field, String(fieldOf(field) ?? ""));
  const firstSet = (fields: readonly string[]): string | undefined =>
    fields.find((field) => fieldOf(field) !== undefined && fieldOf(field) !== null);

  const rule: Rule<string> = rules[name];
  const timed = firstSet(rule.time);
  const source = firstSet(rule.source) ?? rule.source[0];
  const owned = firstSet(rule.owner);
  const attributes = {
    id: checked("the header X-GitHub-Delivery", delivery),
    type: rule.ending === undefined ? rule.type : `${rule.type}.${textOf(rule.ending)}`,
    source: textOf(source),
    subject: textOf(rule.subject),
    time: timed === undefined ? now.toISOString() : checked(timed, timeText(fieldOf(timed))),
    datacontenttype: "application/json",
    traceparent,
  };
  const owner = owned === undefined ? "" : textOf(owned).toLowerCase();
  const repository = rule.repository === undefined ? "" : textOf(rule.repository).toLowerCase();
  if (problems.length > 0) throw new MalformedPayloadError(name, problems);

  try {
    return { event: new CloudEvent<WebhookPayload<E>>({ ...attributes, data }), owner, repository };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new MalformedPayloadError(name, misformed(error, { source, time: timed }));
  }
}

/**
 * A non-empty String of CloudEvents (section 3.1 of its specification). The SDK replaces an empty id or time with its own, and
 * accepts characters that headers cannot carry.
 */
const attributeText = /^[^\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]+$/u;

/** Returns text unchanged; numbers are seconds since the epoch. */
function timeText(time: unknown): string {
  const date = new Date(Number(time) * 1000);
  return typeof time === "number" && !Number.isNaN(date.getTime()) ? date.toISOString() : String(time);
}

/** The SDK's validation errors, by the fields that made the attributes: formats of source and time. */
function misformed(error: ValidationError, fields: Record<string, string | undefined>): string[] {
  return (error.errors ?? []).map((problem) => {
    const attribute = typeof problem === "string" ? "event" : problem.instancePath.slice(1);
    return `${fields[attribute] ?? attribute}: expected the format of the attribute ${attribute}, found other text`;
  });
}
