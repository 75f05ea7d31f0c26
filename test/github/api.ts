/** What the API answers: the package `emulate`, with what stands in beside it. */
import type { ApiAnswer, ApiCall, Endpoint } from "./call.ts";
import type { PullHeads } from "./pullheads.ts";
import type { Tokens } from "./tokens.ts";

/** What makes the answers. */
export interface ApiParts {
  /** `emulate`. */
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  /** The endpoints that it does not have. */
  readonly beside: readonly Endpoint[];
  readonly tokens: Tokens;
  readonly heads: PullHeads;
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
export function api({ ask, beside, tokens, heads }: ApiParts): Api {
  async function answerUser(call: ApiCall): Promise<ApiAnswer> {
    const answer = await ask(call);
    if (!pullsPath.test(call.path) || answer.status >= 300) return answer;
    const value: unknown = JSON.parse(answer.body.toString());
    return heads.correct(value) ? { ...answer, body: JSON.stringify(value) } : answer;
  }

  return {
    answerUser,
    async answer(call) {
      const admitted = tokens.admit(call);
      if ("status" in admitted) return admitted;
      for (const endpoint of beside) {
        const own = await endpoint(call);
        if (own !== undefined) return own;
      }
      return tokens.issue(call, await answerUser(admitted));
    },
  };
}
