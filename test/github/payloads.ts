/** Webhook payloads that the simulated GitHub does not create, from the examples of `@octokit/webhooks-examples`. */
import { createRequire } from "node:module";
import type { WebhookDefinition } from "@octokit/webhooks-examples";

/** Name of an event, as in `X-GitHub-Event`. */
export type EventName = WebhookDefinition["name"];

/** Payload of an event. */
export type EventPayload<E extends EventName> = WebhookDefinition<E>["examples"][number];

/** Selects an example and overrides parts of it. */
export interface ExampleOptions {
  readonly action?: string;
  /** Full name and id in the simulated GitHub; ignored for events without a repository. */
  readonly repository?: { readonly id: number; readonly full_name: string };
  readonly installation?: number;
}

/** The package's main file is JSON, which its types omit. */
const definitions = (): WebhookDefinition[] =>
  createRequire(import.meta.url)("@octokit/webhooks-examples") as WebhookDefinition[];

/** Copies the first example of the event with the action. Throws if there is no such example. */
export function examplePayload<E extends EventName>(
  event: E,
  { action, repository, installation }: ExampleOptions = {},
): EventPayload<E> {
  const examples: readonly object[] = definitions().find(({ name }) => name === event)?.examples ?? [];
  const found = examples.find((one) => action === undefined || ("action" in one && one.action === action));
  if (found === undefined) throw new Error(`no example of ${event} with the action ${action}`);
  const payload = about(found, repository);
  if (installation !== undefined)
    payload.installation = { ...(payload.installation as object | undefined), id: installation };
  return payload as EventPayload<E>;
}

/** Copies the payload and replaces the repository's name everywhere, also in links. */
function about(example: object, repository: ExampleOptions["repository"]): Record<string, unknown> {
  const text = JSON.stringify(example);
  const old = (example as { repository?: { full_name: string; owner: object } }).repository;
  if (repository === undefined || old === undefined) return JSON.parse(text);
  const { id, full_name } = repository;
  const [login, name] = full_name.split("/");
  const renamed = JSON.parse(text.replaceAll(old.full_name, full_name));
  Object.assign(renamed.repository, { id, name, owner: { ...old.owner, login } });
  return renamed;
}
