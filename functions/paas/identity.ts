/** Which repository of GitHub a name in a spec is. Names move on, and are taken by others; GitHub's ids do neither. Pure. */
import type { WebhookPayload } from "../../bus/events/github/payloads.ts";
import type { Find } from "../../bus/objects/indexes.ts";
import { keyText, type ObjectKey } from "../../bus/subjects.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { KnownRepository } from "./kinds/fields.ts";
import { patience } from "./problems.ts";

/** A repository in an index, or in a status: GitHub's names ignore case. */
export const repositoryText = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();

/** All objects that an index has under one of these values, each once. */
export const findAll = async (
  find: Find,
  index: string,
  values: readonly string[],
): Promise<readonly ObjectKey[]> => {
  const found = (await Promise.all(values.map((value) => find(index, value)))).flat();
  return [...new Map(found.map((key) => [keyText(key), key])).values()];
};

/** What names a repository in a spec. */
export interface NamedRepository {
  readonly owner: string;
  readonly repo: string;
}

const textOf = ({ owner, repo }: NamedRepository): string => repositoryText(owner, repo);

/** What was found out about the repository of that name before; of another name, that says nothing. */
export const knownAs = (
  named: NamedRepository,
  before: KnownRepository | undefined,
): KnownRepository | undefined => (before?.name === textOf(named) ? before : undefined);

/** Under what an object is in an index of repositories: the name in its spec and, once that is known, GitHub's id. */
export function repositoryKeys(named: NamedRepository, before: KnownRepository | undefined): string[] {
  const known = knownAs(named, before);
  return [textOf(named), ...(known === undefined ? [] : [String(known.id)])];
}

/** Where to look for objects that a webhook about a repository is about: they may have any of its names. */
export function keysOfWebhook(owner: string, repository: string, id: number): string[] {
  return [repositoryText(owner, repository), String(id)];
}

/** The same for the event `repository`, which also has the name of before. */
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
 * The repository as GitHub has it now. Throws a `BlockedError` with the reason `RepositoryReplaced` when the name was that of
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
  const former = isRenamed(known) ? ` The former one was last called ${known.fullName}.` : "";
  throw new BlockedError(
    "RepositoryReplaced",
    `another repository has the name ${named.owner}/${named.repo} now: GitHub's id is ${found.id}, before it was ${known.id}.${former} ` +
      "To follow the former repository, set spec.base.github to its present name. To follow the new one, delete this object and create it again.",
    patience,
  );
}

const isRenamed = ({ name, fullName }: KnownRepository): boolean => name !== fullName.toLowerCase();

/** What to change when the repository has another name than the spec says; undefined when it has not. */
export function renameNote(known: KnownRepository | undefined, pipeline?: string): string | undefined {
  if (known === undefined || !isRenamed(known)) return undefined;
  const [owner, repo] = known.fullName.split("/");
  const where = pipeline === undefined ? "" : ` of the AppPipeline ${pipeline}`;
  return `the repository ${known.name} is called ${known.fullName} now: set spec.base.github${where} to owner ${owner} and repo ${repo}`;
}

/** The reason of conditions and Events with such a note. */
export const renamed = "RepositoryRenamed";
