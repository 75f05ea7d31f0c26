/** The API: the package `emulate`, and the simulated endpoints that it lacks. */
import { createHash } from "node:crypto";
import type { ApiAnswer, ApiCall, Endpoint } from "./call.ts";
import type { Pulls } from "./pulls.ts";
import type { RepositoryApi } from "./repositoryapi.ts";
import type { Tokens } from "./tokens.ts";

/** Parts of the API. */
export interface ApiParts {
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  /** Endpoints for users who have logged in with an App. */
  readonly people: Endpoint;
  /** Endpoints of Apps and tokens that `emulate` does not have. */
  readonly beside: readonly Endpoint[];
  readonly repositories: RepositoryApi;
  readonly tokens: Tokens;
  readonly pulls: Pulls;
}

/** The API. */
export interface Api {
  /** Answers a client. */
  answer(call: ApiCall): Promise<ApiAnswer>;
  /** Answers the user, who needs no installation token. */
  answerUser(call: ApiCall): Promise<ApiAnswer>;
}

const pullsPath = /^\/repos\/[^/]+\/[^/]+\/pulls(\/\d+)?($|\?)/;

/** Assembles the API. */
export function api({ ask, people, beside, repositories, tokens, pulls }: ApiParts): Api {
  /** `viewed` is called with a pull request that a GET returned. */
  async function answerRepository(
    call: ApiCall,
    admitted: ApiCall,
    viewed: (pull: unknown) => void,
  ): Promise<ApiAnswer> {
    const own = await repositories.answer(call, admitted);
    if (own !== undefined) return own;
    const answer = await ask(admitted);
    if (!pullsPath.test(call.path) || answer.status >= 300) return answer;
    const value: unknown = JSON.parse(answer.body.toString());
    pulls.correct(value);
    if (call.method === "GET") viewed(value);
    return { ...answer, body: JSON.stringify(value) };
  }

  return {
    answerUser: (call) => answerRepository(call, call, () => undefined),
    async answer(call) {
      const told = await people(call);
      if (told !== undefined) return told;
      const admitted = tokens.admit(call);
      if ("status" in admitted) return admitted;
      for (const endpoint of beside) {
        const own = await endpoint(call);
        if (own !== undefined) return own;
      }
      const answer = await answerRepository(call, admitted, (pull) => pulls.markViewed(pull));
      return conditional(call, tokens.issue(call, await repositories.hide(admitted, answer)));
    },
  };
}

/**
 * Adds an ETag, the hash of the body, and answers 304 if the client already has it. `emulate` has no conditional requests.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
function conditional({ method, headers }: ApiCall, answer: ApiAnswer): ApiAnswer {
  if (method !== "GET" || answer.status !== 200) return answer;
  const etag = `W/"${createHash("sha256").update(answer.body).digest("hex")}"`;
  const known = (headers["if-none-match"] ?? "").split(/\s*,\s*/).includes(etag);
  return known
    ? { status: 304, headers: { etag }, body: "" }
    : { ...answer, headers: { ...answer.headers, etag } };
}
