/** Checks writes of Installations before they are sent to the API server. */
import type { Context } from "hono";
import type { Dispatcher } from "undici";
import { GitHubError } from "../../../bus/github/errors.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Env, Parts } from "../env.ts";
import { refusal } from "../refusal.ts";
import { whyNot } from "./grants.ts";
import { troubledBy } from "./troubles.ts";

/** A write from the page. */
export interface InstallationWrite {
  readonly verb: "create" | "patch";
  readonly contentType: string;
  readonly body: string;
  /** Sends the write to the API server as a dry run. */
  dryRun(body: string): Promise<Dispatcher.ResponseData>;
}

const contentTypes = { create: "application/json", patch: "application/merge-patch+json" } as const;

/** Returns the body to send, or else the response to give: our own, or the API server's. */
export async function lookedAt(
  c: Context<Env>,
  { github }: Pick<Parts, "github">,
  { verb, contentType, body, dryRun }: InstallationWrite,
): Promise<
  { readonly send: string } | { readonly own: Response } | { readonly given: Dispatcher.ResponseData }
> {
  const written = recordIn(body);
  if (contentType !== contentTypes[verb] || written === undefined) {
    const message = `The body is not an object of type ${contentTypes[verb]}.`;
    return { own: c.json(refusal("NotAllowed", message), 400) };
  }
  let becomes: Record<string, unknown> = written;
  let sent = written;
  if (verb === "patch") {
    const given = await dryRun(body);
    if (given.statusCode !== 200) return { given };
    const object = (await given.body.json()) as Stored<KubeObject>;
    becomes = { ...object };
    // Send the checked version, so that a concurrent write makes this one fail.
    const { resourceVersion } = object.metadata;
    sent = { ...written, metadata: { ...(written.metadata as object | undefined), resourceVersion } };
  }
  try {
    const reason = await whyNot(github, c.get("session").session, becomes, c.req.raw.signal);
    return reason === undefined ? { send: JSON.stringify(sent) } : { own: c.json(reason, 403) };
  } catch (error) {
    if (error instanceof GitHubError) return { own: troubledBy(c, error) };
    throw error;
  }
}

function recordIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
