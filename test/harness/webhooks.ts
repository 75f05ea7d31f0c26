/** Webhooks as GitHub sends them: signed payloads from its documentation. */
import { createHmac, randomUUID } from "node:crypto";
import examples from "@octokit/webhooks-examples" with { type: "json" };
import { installationTargetExamples } from "../../bus/webhooks/github/examples.ts";
import { hookSecret } from "./environment.ts";

/** A payload, as unstructured as JSON. */
export type Payload = Record<string, unknown>;

const all: readonly { readonly name: string; readonly examples: readonly Payload[] }[] = [
  ...(examples as unknown as { name: string; examples: Payload[] }[]),
  { name: "installation_target", examples: installationTargetExamples },
];

/** The examples of every event, by its name. */
export const examplesByEvent: ReadonlyMap<string, readonly Payload[]> = new Map(
  all.map(({ name, examples }) => [name, examples]),
);

/** The first example of an event. Throws for an event without examples. */
export function example(event: string): Payload {
  const found = examplesByEvent.get(event)?.[0];
  if (found === undefined) throw new Error(`no examples of the event "${event}"`);
  return structuredClone(found);
}

/** The value of `X-Hub-Signature-256` for a body. */
export const signatureOf = (body: string | Buffer, secret = hookSecret): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** A webhook request. */
export interface Hook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly delivery: string;
}

/** Signs a payload. */
export function hookOf(
  event: string,
  payload: unknown,
  delivery: string = randomUUID(),
  secret = hookSecret,
): Hook {
  const body = JSON.stringify(payload);
  const headers = {
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/0000000",
    "x-github-event": event,
    "x-github-delivery": delivery,
    "x-hub-signature-256": signatureOf(body, secret),
  };
  return { body, headers, delivery };
}

/** Sends it; resolves with the status of the answer. */
export async function post(url: string, { body, headers }: Hook): Promise<number> {
  const answer = await fetch(url, { method: "POST", body, headers });
  await answer.text();
  return answer.status;
}

/** A push to a branch of a repository. */
export function push(repository: string, branch: string): Payload {
  const payload = example("push");
  const [owner = "", name = ""] = repository.split("/");
  return {
    ...payload,
    ref: `refs/heads/${branch}`,
    repository: { ...(payload.repository as object), name, full_name: repository, owner: { login: owner } },
  };
}
