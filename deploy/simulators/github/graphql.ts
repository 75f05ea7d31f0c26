/**
 * Simulates one GraphQL query, `viewer { login }`. The package `emulate` has no GraphQL.
 * https://docs.github.com/en/graphql/reference/queries#viewer
 */
import { type Endpoint, json, problem } from "./call.ts";
import type { Caller, Tokens } from "./tokens.ts";

/** Path of the endpoint, without `/api`. */
export const graphqlPath = "/graphql";

/** Answers `viewer { login }`; `login` returns the account of a caller. */
export const graphql =
  (tokens: Pick<Tokens, "caller">, login: (caller: Caller) => string): Endpoint =>
  async (call) => {
    if (call.method !== "POST" || call.path !== graphqlPath) return undefined;
    const caller = tokens.caller(call);
    if (caller.app !== undefined && caller.installation === undefined) return problem(401, "Bad credentials");
    const { query = "" } = JSON.parse(call.body.toString()) as { query?: string };
    if (/^query \{ viewer \{ login \} \}$/.test(query))
      return json(200, { data: { viewer: { login: login(caller) } } });
    return json(200, {
      errors: [{ message: `unsupported query: expected the viewer's login, found ${query}` }],
    });
  };
