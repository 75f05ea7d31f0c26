/** Which Installations a webhook about a repository is about. Pure. */
import type { WebhookPayload } from "../../bus/events/github/payloads.ts";
import type { Find } from "../../bus/objects/indexes.ts";
import { keyText, type ObjectKey } from "../../bus/subjects.ts";
import type { Installation } from "./kinds.ts";

/** Names of repositories ignore case, and people write them with their owner. */
export const repositoryName = (text: string): string => text.slice(text.lastIndexOf("/") + 1).toLowerCase();

const named = (installationID: number, name: string): string => `${installationID}/${repositoryName(name)}`;
const unnamed = (installationID: number): string => `${installationID}/*`;

/** The values of an Installation in the index of repositories: their names, and the known ids. */
export function repositoryKeys({ spec, status }: Pick<Installation, "spec" | "status">): string[] {
  const { installationID, repositories = [], repositoryIDs = [] } = spec;
  if (repositories.length + repositoryIDs.length === 0) return [unnamed(installationID)];
  const ids = [...repositoryIDs, ...(status?.repositories ?? []).map(({ id }) => id)];
  return [
    ...new Set([...repositories.map((name) => named(installationID, name)), ...ids.map((id) => String(id))]),
  ];
}

/** Each changes which repository a name stands for, or which rules allow it. Others change neither. */
const actions = ["renamed", "transferred", "created", "deleted"];

/** Installations whose tokens are to be made again. One that names no repository is about the account. */
export async function keysOfRepository(
  repository: string,
  { action, repository: { id }, changes, installation }: WebhookPayload<"repository">,
  find: Find,
): Promise<readonly ObjectKey[]> {
  if (!actions.includes(action)) return [];
  const names = [repository, ...(changes?.repository ? [changes.repository.name.from] : [])];
  const of = installation?.id;
  const isMoved = action === "renamed" || action === "transferred";
  const values = [
    String(id),
    ...(of === undefined ? [] : [...names.map((name) => named(of, name)), ...(isMoved ? [unnamed(of)] : [])]),
  ];
  const found = (await Promise.all(values.map((value) => find("repository", value)))).flat();
  return [...new Map(found.map((key) => [keyText(key), key])).values()];
}
