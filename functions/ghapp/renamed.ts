/** What GitHub calls a repository that an Installation names, and that GitHub gives no token for under that name. */
import type { GitHubAppClient } from "../../bus/github/app.ts";
import { GitHubRefusedError } from "../../bus/github/errors.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Context } from "../../bus/worker/function.ts";
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
 * Adds the new names to a refusal. A token for the known ids has them in its answer; it can only read metadata, and is revoked at
 * once. Returns other refusals unchanged.
 */
export async function namingRenamed(
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
    ctx.log.info({ err }, "not known whether a repository was renamed");
  });
  if (made === undefined) return refusal;
  await revoke(client, [made.token], ctx);
  const now = new Map(made.repositories?.map(({ id, fullName }) => [id, fullName]));
  const moved = known.flatMap(({ id, fullName: from }) => {
    const to = now.get(id);
    return to === undefined || repositoryName(to) === repositoryName(from) ? [] : [{ from, to }];
  });
  if (moved.length === 0) return refusal;
  const called = moved.map(({ from, to }) => `${from} is called ${to} now`).join(", ");
  const wanted = moved
    .map(({ from, to }) => `${to.split("/")[1]} in place of ${from.split("/")[1]}`)
    .join(", ");
  return new GitHubRefusedError(
    `GitHub gives no token for the former name of a repository: ${called}. ` +
      `Write ${wanted} into spec.repositories of the Installation ${metadata.name}, and the new name into spec.allowed of the ${app.kind} ${app.metadata.name} if that has the former one.`,
    422,
    undefined,
    "RepositoryRenamed",
  );
}
