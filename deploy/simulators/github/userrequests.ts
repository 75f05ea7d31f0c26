/** Requests to the package `emulate` by the user, a member of all accounts. */
import type { ApiAnswer, ApiCall } from "./call.ts";
import { user } from "./seed.ts";

/** Sends a request as the user. */
export type UserRequest = (method: string, path: string, body?: object) => Promise<ApiAnswer>;

/** Sends requests of the user with `ask`, rotating the user's tokens. */
export function userRequests(ask: (call: ApiCall) => Promise<ApiAnswer>): UserRequest {
  let count = 0;
  return (method, path, body) =>
    ask({
      method,
      path,
      headers: { host: "github", authorization: `Bearer ${user.tokens[count++ % user.tokens.length]}` },
      body: Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    });
}
