/** Explains a refused token whose cause is a renamed repository. */
import type { Context, Stored } from "denrei";
import { type GitHubAppClient, GitHubRefusedError } from "denrei/github";
import type { App } from "./connect.ts";
import type { Installation } from "./kinds.ts";
import { repositoryName } from "./repositories.ts";
import { revoke } from "./revoke.ts";

interface Asked {
  readonly client: GitHubAppClient;
  readonly app: App;
  readonly installation: Stored<Installation>;
  readonly ctx: Context;
}

/**
 * Adds the new names of repositories to GitHub's refusal. To learn them, mints a token for the known ids, which can only read
 * metadata and is revoked at once. Returns other errors unchanged.
 */
export async function withNewNames(
  refusal: unknown,
  { client, app, installation, ctx }: Asked,
): Promise<unknown> {
  if (!(refusal instanceof GitHubRefusedError && refusal.status === 422)) return refusal;
  const { spec, status, metadata } = installation;
  const names = new Set(spec.repositories?.map(repositoryName));
  const known = (status?.repositories ?? []).filter(({ fullName }) => names.has(repositoryName(fullName)));
  if (known.length === 0) return refusal;
  ctx.assertOwned();
  const scope = { repositoryIds: known.map(({ id }) => id), permissions: { metadata: "read" } };
  const made = await client.mintToken(spec.installationID, scope, ctx.signal).catch((err: unknown) => {
    ctx.signal.throwIfAborted();
    ctx.log.info({ err }, "failed to check for renamed repositories");
  });
  if (made === undefined) return refusal;
  await revoke(client, [made.token], ctx);
  const now = new Map(made.repositories?.map(({ id, fullName }) => [id, fullName]));
  const moved = known.flatMap(({ id, fullName: from }) => {
    const to = now.get(id);
    return to === undefined || repositoryName(to) === repositoryName(from) ? [] : [{ from, to }];
  });
  if (moved.length === 0) return refusal;
  const called = moved.map(({ from, to }) => `${from} is now ${to}`).join(", ");
  const desired = moved
    .map(({ from, to }) => `${to.split("/")[1]} instead of ${from.split("/")[1]}`)
    .join(", ");
  return new GitHubRefusedError(
    `GitHub refuses tokens for the old name of a renamed repository: ${called}. ` +
      `Set ${desired} in spec.repositories of the Installation ${metadata.name}, and update spec.allowed of the ${app.kind} ${app.metadata.name} if it has the old name.`,
    422,
    undefined,
    "RepositoryRenamed",
  );
}
