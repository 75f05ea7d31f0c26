/** Asking the package `emulate` as the member of all accounts. */
import type { ApiAnswer, ApiCall } from "./call.ts";
import { user } from "./seed.ts";

/** Makes a request as the user. */
export type UserRequest = (method: string, path: string, body?: object) => Promise<ApiAnswer>;

/** Requests of the user, made by `ask`. */
export function userRequests(ask: (call: ApiCall) => Promise<ApiAnswer>): UserRequest {
  let asked = 0;
  return (method, path, body) =>
    ask({
      method,
      path,
      headers: { host: "github", authorization: `Bearer ${user.tokens[asked++ % user.tokens.length]}` },
      body: Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    });
}
