/**
 * A stand-in for what follows when a client commits through the API: the package `emulate` moves the branch, and leaves the
 * rest as it was.
 */
import type { Push } from "./account.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";

const contentsPath = /^\/repos\/([^/]+\/[^/]+)\/contents\//;

/** The push that a call was, if it was one that succeeded. */
export function pushOf({ method, path, body }: ApiCall, answer: ApiAnswer): Push | undefined {
  const repository = contentsPath.exec(path)?.[1];
  if (method !== "PUT" || repository === undefined || answer.status >= 300) return undefined;
  const { branch = "main" } = JSON.parse(body.toString()) as { branch?: string };
  const { commit } = JSON.parse(answer.body.toString()) as {
    commit: { sha: string; parents: readonly { sha: string }[] };
  };
  return { repository, branch, before: commit.parents[0]?.sha ?? "", after: commit.sha };
}
