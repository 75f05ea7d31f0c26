/** Checks writes of Installations before they are sent to the API server. */
import { GitHubError } from "denrei/github";
import type { KubeObject, Stored } from "denrei/kinds";
import type { Context } from "hono";
import type { Dispatcher } from "undici";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { errorResponse } from "./errorresponses.ts";
import { heldInstallation } from "./heldinstallation.ts";
import { denialOf } from "./installationaccess.ts";

/** A write from the page. */
export interface InstallationWrite {
  readonly verb: "create" | "patch";
  readonly namespace: string;
  readonly contentType: string;
  readonly body: string;
  /** Sends the write to the API server as a dry run. */
  dryRun(body: string): Promise<Dispatcher.ResponseData>;
}

/** GitHub did not confirm the installation for the user's account. */
const mayHoldKey: ReadonlySet<string> = new Set([
  "NotYourInstallation",
  "GitHubNotConnected",
  "GitHubNotSetUp",
]);

const contentTypes = { create: "application/json", patch: "application/merge-patch+json" } as const;

/** Returns the body to send, or else the response to give: our own, or the API server's. */
export async function checkInstallationWrite(
  c: Context<Env>,
  parts: Pick<Parts, "apiServer" | "github" | "githubUrls">,
  { verb, namespace, contentType, body, dryRun }: InstallationWrite,
): Promise<
  | { readonly body: string }
  | { readonly response: Response }
  | { readonly apiResponse: Dispatcher.ResponseData }
> {
  const parsed = parseRecord(body);
  if (contentType !== contentTypes[verb] || parsed === undefined) {
    const message = `The body is not an object of type ${contentTypes[verb]}.`;
    return { response: c.json(errorBody("NotAllowed", message), 400) };
  }
  let result: Record<string, unknown> = parsed;
  let sent = parsed;
  if (verb === "patch") {
    const apiResponse = await dryRun(body);
    if (apiResponse.statusCode !== 200) return { apiResponse };
    const object = (await apiResponse.body.json()) as Stored<KubeObject>;
    result = { ...object };
    // Send the checked version, so that a concurrent write makes this one fail.
    const { resourceVersion } = object.metadata;
    sent = { ...parsed, metadata: { ...(parsed.metadata as object | undefined), resourceVersion } };
  }
  try {
    const { session } = c.get("session");
    const signal = c.req.raw.signal;
    const denial = await denialOf(parts.github, session, result, signal);
    if (denial !== undefined && mayHoldKey.has(denial.reason)) {
      const user = { apiServer: parts.apiServer, token: session.idToken };
      const held = await heldInstallation(user, { namespace, object: result }, parts, signal);
      if (held === "held") return { body: JSON.stringify(sent) };
      if (held !== undefined) return { response: c.json(held, 403) };
    }
    return denial === undefined ? { body: JSON.stringify(sent) } : { response: c.json(denial, 403) };
  } catch (error) {
    if (error instanceof GitHubError) return { response: errorResponse(c, error) };
    throw error;
  }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
