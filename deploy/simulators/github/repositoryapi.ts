/**
 * Endpoints of a repository that the package `emulate` does not have, and who may call them. It also answers 403 where
 * GitHub keeps to itself that there is something: a repository that a token may not see is not there.
 */
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import type { Caller, Tokens } from "./tokens.ts";

/** A call of one of them by somebody who may make it. */
export interface RepositoryCall {
  readonly repository: string;
  /** What the path's expression has captured. */
  readonly found: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  /** The login of who calls. */
  readonly by: string;
  /** The URL of the repository in the API. */
  readonly url: string;
}

/** One endpoint. */
export interface RepositoryEndpoint {
  readonly method: string;
  /** Of what comes behind the name of the repository. */
  readonly path: RegExp;
  /** What a token needs. */
  readonly permission: string;
  answer(call: RepositoryCall): Promise<ApiAnswer>;
}

/** What the endpoints need. */
export interface RepositoryApiParts {
  readonly endpoints: readonly RepositoryEndpoint[];
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  readonly tokens: Tokens;
  /** Whom a request is made as. */
  readonly login: (caller: Caller) => string;
  /** What links to the API begin with. */
  readonly apiUrl: string;
}

/** Answers to a call as it came; `admitted` is the same as `emulate` understands it. */
export interface RepositoryApi {
  /** Undefined when it is none of the endpoints. */
  answer(call: ApiCall, admitted: ApiCall): Promise<ApiAnswer | undefined>;
  /** What `emulate` has answered, as GitHub would. */
  hidden(admitted: ApiCall, answer: ApiAnswer): Promise<ApiAnswer>;
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
        const found = call.method === endpoint.method ? endpoint.path.exec(rest) : null;
        if (found === null) continue;
        const seen = await repositoryAsSeen(repository, admitted);
        if (seen.status !== 200) return seen.status === 401 ? seen : problem(404, "Not Found");
        if (!tokens.may(call, endpoint.permission, call.method === "GET" ? "read" : "write"))
          return problem(403, "Resource not accessible by integration");
        return endpoint.answer({
          repository,
          found: found.slice(1),
          query: new URL(call.path, apiUrl).searchParams,
          body: call.body.length > 0 ? JSON.parse(call.body.toString()) : {},
          by: login(tokens.caller(call)),
          url: `${apiUrl}/repos/${repository}`,
        });
      }
      return undefined;
    },
    async hidden(admitted, answer) {
      const repository = answer.status === 403 ? paths.exec(admitted.path)?.[1] : undefined;
      if (repository === undefined) return answer;
      return (await repositoryAsSeen(repository, admitted)).status === 200
        ? answer
        : problem(404, "Not Found");
    },
  };
}

/** A list, the newest first, a page of it. */
export function newestFirst(list: readonly object[], query: URLSearchParams): ApiAnswer {
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const start = (Number(query.get("page") ?? 1) - 1) * size;
  return json(200, [...list].reverse().slice(start, start + size));
}
