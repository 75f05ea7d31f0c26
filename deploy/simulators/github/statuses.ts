/**
 * Simulates commit statuses, which the package `emulate` does not have.
 * https://docs.github.com/en/rest/commits/statuses
 */
import { type ApiAnswer, json, problem } from "./call.ts";
import { newestFirst, type RepositoryEndpoint } from "./repositoryapi.ts";

/** A commit status in GitHub's API. */
export interface ShownStatus {
  readonly id: number;
  readonly state: string;
  readonly context: string;
  readonly description: string | null;
  readonly target_url: string | null;
  readonly creator: { readonly login: string };
  readonly created_at: string;
  readonly updated_at: string;
}

const states = ["error", "failure", "pending", "success"];

/** Endpoints to create and list statuses; `hasCommit` reports whether a commit exists. */
export function commitStatuses(
  hasCommit: (repository: string, sha: string) => Promise<boolean>,
): readonly RepositoryEndpoint[] {
  const all = new Map<string, ShownStatus[]>();
  let lastId = 0;

  const statusesOf = (repository: string, sha = ""): ShownStatus[] => {
    const key = `${repository}@${sha}`;
    const list = all.get(key) ?? [];
    all.set(key, list);
    return list;
  };

  return [
    {
      method: "POST",
      path: /^statuses\/([^/]+)$/,
      permission: "statuses",
      async answer({ repository, captures: [sha = ""], body, by, url }) {
        const rejection = problemOf(body);
        if (rejection !== undefined) return rejection;
        if (!(await hasCommit(repository, sha))) return problem(422, `No commit found for SHA: ${sha}`);
        const { state, context = "default", description = null, target_url = null } = body;
        const at = new Date().toISOString();
        const status = {
          id: ++lastId,
          url: `${url}/statuses/${sha}`,
          ...{ state, context, description, target_url },
          creator: { login: by },
          ...{ created_at: at, updated_at: at },
        };
        statusesOf(repository, sha).push(status as ShownStatus);
        return json(201, status);
      },
    },
    {
      method: "GET",
      path: /^commits\/([^/]+)\/statuses$/,
      permission: "statuses",
      answer: async ({ repository, captures: [sha], query }) =>
        newestFirst(statusesOf(repository, sha), query),
    },
    {
      method: "GET",
      path: /^commits\/([^/]+)\/status$/,
      permission: "statuses",
      async answer({ repository, captures: [sha] }) {
        const statuses = [...new Map(statusesOf(repository, sha).map((one) => [one.context, one])).values()];
        const has = (...expected: string[]) => statuses.some(({ state }) => expected.includes(state));
        const state = has("error", "failure") ? "failure" : has("pending") ? "pending" : "success";
        return json(200, { sha, state: statuses.length > 0 ? state : "pending", statuses });
      },
    },
  ];
}

function problemOf({
  state,
  description,
  target_url,
}: Readonly<Record<string, unknown>>): ApiAnswer | undefined {
  if (!states.includes(String(state)))
    return problem(422, "Validation Failed: state is not included in the list");
  if (typeof description === "string" && [...description].length > 140)
    return problem(422, "Validation Failed: description is too long (maximum is 140 characters)");
  if (typeof target_url === "string" && !/^https?:\/\//.test(target_url))
    return problem(422, "Validation Failed: target_url must use http(s) scheme");
  return undefined;
}
