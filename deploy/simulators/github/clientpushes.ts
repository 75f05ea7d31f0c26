/**
 * Detects commits that clients make through the API. The package `emulate` moves the branch but does not update pull
 * requests.
 */
import type { Push } from "./account.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";

const contentsPath = /^\/repos\/([^/]+\/[^/]+)\/contents\//;

/** The push that a successful call made; undefined for all other calls. */
export function pushOf({ method, path, body }: ApiCall, answer: ApiAnswer): Push | undefined {
  const repository = contentsPath.exec(path)?.[1];
  if (method !== "PUT" || repository === undefined || answer.status >= 300) return undefined;
  const { branch = "main" } = JSON.parse(body.toString()) as { branch?: string };
  const { commit } = JSON.parse(answer.body.toString()) as {
    commit: { sha: string; parents: readonly { sha: string }[] };
  };
  return { repository, branch, before: commit.parents[0]?.sha ?? "", after: commit.sha };
}
