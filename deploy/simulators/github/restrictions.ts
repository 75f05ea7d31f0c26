/**
 * Simulates restrictions that keep an App from writing although it has the permission: locked conversations, archived
 * repositories, disabled issues, and blocked accounts. The package `emulate` ignores all of them.
 * https://docs.github.com/en/rest/issues/comments#create-an-issue-comment
 * https://docs.github.com/en/repositories/archiving-a-github-repository/archiving-repositories
 * https://docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations
 * The messages are GitHub's, quoted from public bug reports of its clients.
 */
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";

/** Restrictions that an owner can set on a repository. */
export type Restricted = "archived" | "issues disabled" | "blocked";

/** The restrictions of all repositories. */
export interface Restrictions {
  /** Restricts a repository until the returned function is called. */
  restrict(repository: string, restricted: Restricted): () => void;
  lock(repository: string, number: number): void;
  unlock(repository: string, number: number): void;
  /** The error for a call that a restriction forbids; undefined if it is allowed. */
  answer(
    call: ApiCall,
    pullOfComment: (comment: string) => Promise<number | undefined>,
  ): Promise<ApiAnswer | undefined>;
}

const writes =
  /^\/repos\/([^/]+\/[^/]+)\/(?:issues\/(?:comments\/)?(\d+)(?:\/comments)?|statuses\/|deployments)/;
const longestBody = 65_536;

/** Creates the restrictions, initially none. */
export function restrictions(): Restrictions {
  const restricted = new Set<string>();
  const locked = new Set<string>();
  return {
    restrict(repository, what) {
      restricted.add(`${what} ${repository}`);
      return () => restricted.delete(`${what} ${repository}`);
    },
    lock: (repository, number) => void locked.add(`${repository}#${number}`),
    unlock: (repository, number) => void locked.delete(`${repository}#${number}`),
    async answer({ method, path, body }, pullOfComment) {
      const [, repository = "", id] = method === "GET" ? [] : (writes.exec(path) ?? []);
      if (restricted.has(`archived ${repository}`))
        return problem(403, "Repository was archived so is read-only.");
      if (id === undefined) return undefined;
      if (restricted.has(`issues disabled ${repository}`))
        return problem(410, "Issues are disabled for this repo");
      if (restricted.has(`blocked ${repository}`)) return problem(403, "User is blocked");
      const number = path.includes("/comments/") ? await pullOfComment(path) : Number(id);
      const verb = method === "POST" ? "create" : "update";
      if (locked.has(`${repository}#${number}`))
        return problem(403, `Unable to ${verb} comment because issue is locked.`);
      if (method === "DELETE") return undefined;
      const { body: text = "" } = JSON.parse(body.toString()) as { body?: string };
      if ([...text].length <= longestBody) return undefined;
      const message = `body is too long (maximum is ${longestBody} characters)`;
      return json(422, {
        message: "Validation Failed",
        errors: [{ resource: "IssueComment", code: "unprocessable", field: "data", message }],
      });
    },
  };
}
