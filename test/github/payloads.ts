/** Webhooks that the emulated GitHub does not send by itself, from the examples of `@octokit/webhooks-examples`. */
import { createRequire } from "node:module";
import type { WebhookDefinition } from "@octokit/webhooks-examples";

/** The name of an event, as in `X-GitHub-Event`. */
export type EventName = WebhookDefinition["name"];

/** The payload of an event. */
export type EventPayload<E extends EventName> = WebhookDefinition<E>["examples"][number];

/** Which example, and what it is about; the rest stays as the example has it. */
export interface ExampleOptions {
  readonly action?: string;
  /** A full name, and the id that the emulated GitHub has for it; nothing changes where the event is about none. */
  readonly repository?: { readonly id: number; readonly full_name: string };
  readonly installation?: number;
}

/** A JSON file is the main file of the package, which its types do not say. */
const definitions = (): WebhookDefinition[] =>
  createRequire(import.meta.url)("@octokit/webhooks-examples") as WebhookDefinition[];

/** A copy of the first example of the event that has the action. Throws when there is none. */
export function examplePayload<E extends EventName>(
  event: E,
  { action, repository, installation }: ExampleOptions = {},
): EventPayload<E> {
  const examples: readonly object[] = definitions().find(({ name }) => name === event)?.examples ?? [];
  const found = examples.find((one) => action === undefined || ("action" in one && one.action === action));
  if (found === undefined) throw new Error(`expected an example of ${event} with the action ${action}`);
  const payload = about(found, repository);
  if (installation !== undefined)
    payload.installation = { ...(payload.installation as object | undefined), id: installation };
  return payload as EventPayload<E>;
}

/** A copy with the name of the repository wherever the example has its own, in links as well. */
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
