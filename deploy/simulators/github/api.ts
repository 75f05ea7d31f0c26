/** What the API answers: the package `emulate`, with what stands in beside it. */
import type { ApiAnswer, ApiCall, Endpoint } from "./call.ts";
import { conditional } from "./etags.ts";
import type { Pulls } from "./pulls.ts";
import type { RepositoryApi } from "./repositoryapi.ts";
import type { Tokens } from "./tokens.ts";

/** What makes the answers. */
export interface ApiParts {
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  /** What users are told who have logged in with an App. */
  readonly people: Endpoint;
  /** The endpoints that it does not have: those of Apps and tokens, and those of a repository. */
  readonly beside: readonly Endpoint[];
  readonly repositories: RepositoryApi;
  readonly tokens: Tokens;
  readonly pulls: Pulls;
}

/** The API. */
export interface Api {
  /** Answers a client. */
  answer(call: ApiCall): Promise<ApiAnswer>;
  /** Answers the user, who needs no token of an installation. */
  answerUser(call: ApiCall): Promise<ApiAnswer>;
}

const pullsPath = /^\/repos\/[^/]+\/[^/]+\/pulls(\/\d+)?($|\?)/;

/** Puts the parts together. */
export function api({ ask, people, beside, repositories, tokens, pulls }: ApiParts): Api {
  /** `looked`: what is done with a pull request that is answered. */
  async function answerRepository(
    call: ApiCall,
    admitted: ApiCall,
    looked: (pull: unknown) => void,
  ): Promise<ApiAnswer> {
    const own = await repositories.answer(call, admitted);
    if (own !== undefined) return own;
    const answer = await ask(admitted);
    if (!pullsPath.test(call.path) || answer.status >= 300) return answer;
    const value: unknown = JSON.parse(answer.body.toString());
    pulls.correct(value);
    if (call.method === "GET") looked(value);
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
      const answer = await answerRepository(call, admitted, (pull) => pulls.look(pull));
      return conditional(call, tokens.issue(call, await repositories.hidden(admitted, answer)));
    },
  };
}
