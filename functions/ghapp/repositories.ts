/** Finds the Installations that a repository webhook affects. Pure. */

import type { Find } from "../../bus/objects/indexes.ts";
import { keyText, type ObjectKey } from "../../bus/subjects.ts";
import type { WebhookPayload } from "../../bus/webhooks/github/payloads.ts";
import type { Installation } from "./kinds.ts";

/** GitHub's names ignore case, and users may write them with the owner. */
export const repositoryName = (text: string): string => text.slice(text.lastIndexOf("/") + 1).toLowerCase();

const named = (installationID: number, name: string): string => `${installationID}/${repositoryName(name)}`;
const unnamed = (installationID: number): string => `${installationID}/*`;

/** Index keys of an Installation: the names of its repositories, and the known ids. */
export function repositoryKeys({ spec, status }: Pick<Installation, "spec" | "status">): string[] {
  const { installationID, repositories = [], repositoryIDs = [] } = spec;
  if (repositories.length + repositoryIDs.length === 0) return [unnamed(installationID)];
  const ids = [...repositoryIDs, ...(status?.repositories ?? []).map(({ id }) => id)];
  return [
    ...new Set([...repositories.map((name) => named(installationID, name)), ...ids.map((id) => String(id))]),
  ];
}

/** Actions that change the repository behind a name, or the rules that allow it. */
const actions = ["renamed", "transferred", "created", "deleted"];

/** Installations that need a new token. One without repositories is for the whole account. */
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
