/**
 * Simulates renamed and transferred repositories, which the package `emulate` does not support. The former name redirects
 * to the repository until another repository takes that name.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
 * https://docs.github.com/en/repositories/creating-and-managing-repositories/renaming-a-repository
 * Not simulated: statuses and deployments from before the move.
 */
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import type { Pulls } from "./pulls.ts";
import { type UserRequest, userApi } from "./userrequests.ts";

/** Changes that the owner of a repository makes. Apps that subscribe to `repository` get a webhook. */
export interface RepositoryMoves {
  /** Renames a repository: `to` is its name without the owner. */
  renameRepository(repository: string, to: string): Promise<void>;
  /** Transfers a repository to another organization. */
  transferRepository(repository: string, owner: string): Promise<void>;
  /** Creates a private repository with a branch `main`; it may take the former name of another repository. */
  createRepository(repository: string): Promise<void>;
}

/** Repository fields read here. */
interface Repository {
  readonly id: number;
  readonly full_name: string;
}

/** Dependencies of the simulated moves. */
export interface MoveParts {
  readonly request: UserRequest;
  /** Full names of all repositories; updated here. */
  readonly names: string[];
  readonly pulls: Pulls;
  readonly announce: (repository: string, event: string, payload: Record<string, unknown>) => void;
  /** Prefix of API links. */
  readonly apiUrl: string;
}

const byName = /^\/repos\/([^/?]+\/[^/?]+)(.*)$/s;
const byId = /^\/repositories\/(\d+)(.*)$/s;

/** `answer` handles former names and passes calls on under the current name. */
export function moves({ request, names, pulls, announce, apiUrl }: MoveParts): {
  readonly moves: RepositoryMoves;
  answer(call: ApiCall, answer: (call: ApiCall) => Promise<ApiAnswer>): Promise<ApiAnswer>;
} {
  /** Ids by former names, in lower case. */
  const former = new Map<string, number>();
  const callApi = userApi(request);

  async function move(
    from: string,
    action: "renamed" | "transferred",
    changes: (before: { owner: object }) => object,
    change: () => Promise<Repository>,
  ): Promise<void> {
    const before = await callApi<Repository & { owner: object }>("GET", `/repos/${from}`);
    const { id, full_name } = await change();
    former.set(from.toLowerCase(), id);
    former.delete(full_name.toLowerCase());
    names.splice(names.indexOf(from), 1, full_name);
    pulls.rename(from, full_name);
    announce(full_name, "repository", {
      action,
      changes: changes(before),
      repository: await callApi("GET", `/repos/${full_name}`),
      sender: await callApi("GET", "/user"),
    });
  }

  return {
    moves: {
      renameRepository: (from, to) =>
        move(
          from,
          "renamed",
          () => ({ repository: { name: { from: from.split("/")[1] } } }),
          () => callApi("PATCH", `/repos/${from}`, { name: to }),
        ),
      transferRepository: (from, owner) =>
        move(
          from,
          "transferred",
          (before) => ({ owner: { from: { organization: before.owner } } }),
          () => callApi("POST", `/repos/${from}/transfer`, { new_owner: owner }),
        ),
      async createRepository(repository) {
        const [owner, name] = repository.split("/");
        await callApi("POST", `/orgs/${owner}/repos`, { name, private: true, auto_init: true });
        former.delete(repository.toLowerCase());
        names.push(repository);
      },
    },
    async answer(call, answer) {
      const [, id, below = ""] = byId.exec(call.path) ?? [];
      if (id !== undefined) {
        const name = await nameOf(request, id);
        if (name === undefined) return problem(404, "Not Found");
        return answer({ ...call, path: `/repos/${name}${below}` });
      }
      const [, name = "", rest = ""] = byName.exec(call.path) ?? [];
      const moved = former.get(name.toLowerCase());
      if (moved === undefined) return answer(call);
      const { full_name } = await callApi<Repository>("GET", `/repositories/${moved}`);
      // Callers without access to the repository must not learn its new name.
      const visible = await answer({
        ...call,
        method: "GET",
        path: `/repos/${full_name}`,
        body: Buffer.alloc(0),
      });
      if (visible.status !== 200 && visible.status !== 304) return visible;
      return redirectTo(`${apiUrl}/repositories/${moved}${rest}`, call.method);
    },
  };
}

/** The full name of a repository; undefined if no repository has the id. */
async function nameOf(request: UserRequest, id: string): Promise<string | undefined> {
  const { status, body } = await request("GET", `/repositories/${id}`);
  return status === 200 ? (JSON.parse(body.toString()) as Repository).full_name : undefined;
}

function redirectTo(url: string, method: string): ApiAnswer {
  const documentation_url =
    "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects";
  const status = method === "GET" ? 301 : 307;
  return json(status, { message: "Moved Permanently", url, documentation_url }, { location: url });
}
