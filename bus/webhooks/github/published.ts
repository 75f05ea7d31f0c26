/** For tests: GitHub's published webhook examples, and their conversion by the adapter. */
import { createRequire } from "node:module";
import { fromMessage, toMessage } from "../../events/binding.ts";
import { adaptWebhook, type WebhookDelivery } from "../adapter.ts";
import { installationTargetExamples } from "./examples.ts";
import { github } from "./github.ts";
import { type WebhookEventName, webhookPayloads } from "./payloads.ts";

/** Fields of GitHub's own examples that tests read; each event has some of them. */
export interface Example {
  action: string;
  number: number;
  ref: string;
  ref_type: string;
  repository: {
    name: string;
    url: string;
    updated_at: string;
    owner: { login?: string; name?: string; url?: string };
  };
  installation: {
    id: number;
    account: { login: string; url: string };
    updated_at: unknown;
    app_id: unknown;
  };
  pull_request: { updated_at: string };
  check_suite: { id: number; updated_at: string };
  check_run: { id: number; started_at: string | null; completed_at: string | null };
  account: { url?: string; html_url: string };
  issue: { url: string };
  comment: { id: number; updated_at: string };
}

const editions = ["api.github.com", "ghes-31", "ghes-32", "ghes-33", "ghes-34", "ghes-35"];
const require = createRequire(import.meta.url);
export const published = editions.flatMap((edition): { name: string; examples: Example[] }[] =>
  require(`@octokit/webhooks-examples/${edition}/index.json`),
);
const written = { name: "installation_target", examples: installationTargetExamples as unknown as Example[] };
export const examplesOf = (event: string): Example[] =>
  [...published, written].flatMap(({ name, examples }) => (name === event ? examples : []));
export const exampleOf = (event: WebhookEventName): Example =>
  structuredClone(examplesOf(event)[0] as Example);

export const delivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
export const now = new Date("2026-01-02T03:04:05.678Z");
/** Converts a webhook with the built-in schema of its event. */
export const githubEvent = (
  webhook: Pick<WebhookDelivery, "delivery" | "payload" | "now" | "traceparent"> & {
    readonly event: WebhookEventName;
  },
) => adaptWebhook({ provider: github, hook: "app", schemas: [webhookPayloads[webhook.event]], ...webhook });
export const convert = (event: WebhookEventName, payload: unknown) =>
  githubEvent({ event, delivery, payload, now });
export const readBack = (event: ReturnType<typeof convert>["event"]) => {
  const message = toMessage(event);
  return fromMessage({ headers: message.headers, string: () => message.data });
};

/** The path of a value: names of fields, and indices of arrays. */
export type Path = readonly (string | number)[];
export function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const within = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const inner = within.flatMap(([step, field]) => pathsIn(field, [...path, step]));
  return Array.isArray(value) ? [path, ...inner] : inner;
}
