/** Maps repository names in a spec to GitHub ids. Names can be changed and reused; GitHub's ids cannot. Pure. */

import type { Find } from "../../bus/objects/indexes.ts";
import { keyText, type ObjectKey } from "../../bus/subjects.ts";
import type { WebhookPayload } from "../../bus/webhooks/github/payloads.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { KnownRepository } from "./kinds/fields.ts";
import { retryMillis } from "./retry.ts";

/** A repository name for an index or a status: GitHub's names ignore case. */
export const repositoryText = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();

/** All objects that an index lists under any of these values, without duplicates. */
export const findAll = async (
  find: Find,
  index: string,
  values: readonly string[],
): Promise<readonly ObjectKey[]> => {
  const found = (await Promise.all(values.map((value) => find(index, value)))).flat();
  return [...new Map(found.map((key) => [keyText(key), key])).values()];
};

/** A repository as a spec names it. */
export interface NamedRepository {
  readonly owner: string;
  readonly repo: string;
}

const textOf = ({ owner, repo }: NamedRepository): string => repositoryText(owner, repo);

/** The repository that was found under this name before. Ignores one that was found under another name. */
export const knownAs = (
  named: NamedRepository,
  before: KnownRepository | undefined,
): KnownRepository | undefined => (before?.name === textOf(named) ? before : undefined);

/** Index keys of an object: the repository name in its spec and, once that is known, GitHub's id. */
export function repositoryKeys(named: NamedRepository, before: KnownRepository | undefined): string[] {
  const known = knownAs(named, before);
  return [textOf(named), ...(known === undefined ? [] : [String(known.id)])];
}

/** Index keys for the repository of a webhook: objects may list it under its name or its id. */
export function keysOfWebhook(owner: string, repository: string, id: number): string[] {
  return [repositoryText(owner, repository), String(id)];
}

/** The same for the event `repository`, which also has the previous name. */
export function keysOfMove(
  owner: string,
  repository: string,
  { repository: { id }, changes }: WebhookPayload<"repository">,
): string[] {
  const from = changes?.owner?.from;
  const before = repositoryText(
    from?.organization?.login ?? from?.user?.login ?? owner,
    changes?.repository?.name.from ?? repository,
  );
  return [...new Set([...keysOfWebhook(owner, repository, id), before])];
}

/**
 * The repository as GitHub has it now. Throws a `BlockedError` with the reason `RepositoryReplaced` when the name belonged to
 * another repository before: the code of a stranger who takes a free name must not be deployed.
 */
export function identified(
  named: NamedRepository,
  found: { readonly id: number; readonly fullName: string },
  before: KnownRepository | undefined,
): KnownRepository {
  const known = knownAs(named, before);
  if (known === undefined || known.id === found.id)
    return { name: textOf(named), id: found.id, fullName: found.fullName };
  const former = isRenamed(known) ? ` The previous one was last called ${known.fullName}.` : "";
  throw new BlockedError(
    "RepositoryReplaced",
    `the name ${named.owner}/${named.repo} now belongs to another repository: its GitHub id is ${found.id}, it was ${known.id} before.${former} ` +
      "To follow the previous repository, set spec.base.github to its current name. To follow the new one, delete this object and create it again.",
    retryMillis,
  );
}

const isRenamed = ({ name, fullName }: KnownRepository): boolean => name !== fullName.toLowerCase();

/** Tells the user which field to change after a repository was renamed; undefined when the spec has its current name. */
export function renameNote(known: KnownRepository | undefined, pipeline?: string): string | undefined {
  if (known === undefined || !isRenamed(known)) return undefined;
  const [owner, repo] = known.fullName.split("/");
  const where = pipeline === undefined ? "" : ` of the AppPipeline ${pipeline}`;
  return `the repository ${known.name} was renamed to ${known.fullName}: set spec.base.github${where} to owner ${owner} and repo ${repo}`;
}

/** The reason of conditions and Events with a rename note. */
export const renamed = "RepositoryRenamed";
