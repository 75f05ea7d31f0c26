/**
 * Endpoints of a repository that the package `emulate` does not have, with their permission checks. Also answers 404 in
 * place of 403 for a repository that a token may not see, as GitHub does.
 */
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import type { Caller, Tokens } from "./tokens.ts";

/** An authorized call of an endpoint. */
export interface RepositoryCall {
  readonly repository: string;
  /** Capture groups of the endpoint's path. */
  readonly captures: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  /** Login of the caller. */
  readonly by: string;
  /** URL of the repository in the API. */
  readonly url: string;
}

/** An endpoint of a repository. */
export interface RepositoryEndpoint {
  readonly method: string;
  /** Matches the part of the path after the repository's name. */
  readonly path: RegExp;
  /** Permission that a token needs. */
  readonly permission: string;
  answer(call: RepositoryCall): Promise<ApiAnswer>;
}

/** Dependencies of the endpoints. */
export interface RepositoryApiParts {
  readonly endpoints: readonly RepositoryEndpoint[];
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  readonly tokens: Tokens;
  /** Login of a caller. */
  readonly login: (caller: Caller) => string;
  /** Prefix of API links. */
  readonly apiUrl: string;
}

/** In all methods `admitted` is the call with the token that `emulate` knows. */
export interface RepositoryApi {
  /** Undefined when no endpoint matches. */
  answer(call: ApiCall, admitted: ApiCall): Promise<ApiAnswer | undefined>;
  /** Turns `emulate`'s 403 into a 404 where GitHub hides the repository. */
  hide(admitted: ApiCall, answer: ApiAnswer): Promise<ApiAnswer>;
}

const paths = /^\/repos\/([^/?]+\/[^/?]+)(?:\/([^?]*))?/;

/** Serves the endpoints. */
export function repositoryApi({ endpoints, ask, tokens, login, apiUrl }: RepositoryApiParts): RepositoryApi {
  const repositoryAsSeen = (repository: string, { headers }: ApiCall): Promise<ApiAnswer> =>
    ask({ method: "GET", path: `/repos/${repository}`, headers, body: Buffer.alloc(0) });

  return {
    async answer(call, admitted) {
      const [, repository = "", rest = ""] = paths.exec(call.path) ?? [];
      for (const endpoint of endpoints) {
        const match = call.method === endpoint.method ? endpoint.path.exec(rest) : null;
        if (match === null) continue;
        const visible = await repositoryAsSeen(repository, admitted);
        if (visible.status !== 200) return visible.status === 401 ? visible : problem(404, "Not Found");
        if (!tokens.may(call, endpoint.permission, call.method === "GET" ? "read" : "write"))
          return problem(403, "Resource not accessible by integration");
        return endpoint.answer({
          repository,
          captures: match.slice(1),
          query: new URL(call.path, apiUrl).searchParams,
          body: call.body.length > 0 ? JSON.parse(call.body.toString()) : {},
          by: login(tokens.caller(call)),
          url: `${apiUrl}/repos/${repository}`,
        });
      }
      return undefined;
    },
    async hide(admitted, answer) {
      const repository = answer.status === 403 ? paths.exec(admitted.path)?.[1] : undefined;
      if (repository === undefined) return answer;
      return (await repositoryAsSeen(repository, admitted)).status === 200
        ? answer
        : problem(404, "Not Found");
    },
  };
}

/** A page of a list, newest first. */
export function newestFirst(list: readonly object[], query: URLSearchParams): ApiAnswer {
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const start = (Number(query.get("page") ?? 1) - 1) * size;
  return json(200, [...list].reverse().slice(start, start + size));
}
