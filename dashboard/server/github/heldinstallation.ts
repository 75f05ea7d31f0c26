/**
 * Access check for Installations of a GitHubApp whose key the user may read. With the key, the user can mint every token of the App
 * without the dashboard, so the Installation gives nothing new. The App with which the dashboard connects accounts is excluded: for
 * this one, GitHub can confirm what the user sees, which also limits what a compromised page can do. The key of a ClusterGitHubApp is
 * in the platform's namespace, where users read no Secrets.
 */
import { GitHubError, GitHubUrlError, PrivateKeyError } from "denrei/github";
import { z } from "zod";
import type { Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { RejectedError } from "../kubernetes/responses.ts";
import type { GitHubClient } from "./client.ts";
import { webAddresses } from "./githuburls.ts";
import { type HeldApp, heldApp, isObjectName } from "./keyholder.ts";
import type { KubernetesUser } from "./storeapp.ts";

const installationSchema = z.object({
  spec: z.object({
    appRef: z.object({
      kind: z.literal("GitHubApp"),
      name: z.string().refine(isObjectName),
    }),
    installationID: z.int().min(1),
  }),
});

/** `held` if the App has the installation, and a denial if it has not. Undefined if the check does not apply. */
export async function heldInstallation(
  user: KubernetesUser,
  { namespace, object }: { readonly namespace: string; readonly object: unknown },
  { github, githubUrls }: Pick<Parts, "github" | "githubUrls">,
  signal: AbortSignal,
): Promise<"held" | ReturnType<typeof errorBody> | undefined> {
  const read = installationSchema.safeParse(object);
  if (!read.success) return undefined;
  const { appRef, installationID } = read.data.spec;
  const app = await heldBy(user, { namespace, name: appRef.name }, githubUrls);
  if (app === undefined || (await isConnecting(app, github, signal))) return undefined;
  try {
    await app.client.installation(installationID, signal);
    return "held";
  } catch (error) {
    if (!(error instanceof GitHubError && error.status === 404)) throw error;
    return errorBody(
      "NotYourInstallation",
      `The App of the GitHubApp ${appRef.name} has no installation ${installationID} on GitHub.`,
    );
  }
}

/** Whether users connect their accounts with this App. True in case of doubt. */
async function isConnecting(
  { url, client }: HeldApp,
  github: GitHubClient | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (github === undefined || webAddresses([github.url])[0] !== url) return false;
  const { clientId } = await client.self(signal);
  return clientId === undefined || clientId === github.clientId;
}

async function heldBy(
  user: KubernetesUser,
  at: { readonly namespace: string; readonly name: string },
  allowed: readonly string[],
): Promise<HeldApp | undefined> {
  try {
    return await heldApp(user, at, allowed);
  } catch (error) {
    const isOther =
      error instanceof PrivateKeyError ||
      error instanceof GitHubUrlError ||
      (error instanceof RejectedError && [403, 404].includes(error.status));
    if (isOther) return undefined;
    throw error;
  }
}
