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

/** Calls the API and parses the response. Throws when the response is an error. */
export type UserApi = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

/** Calls the API as the user. */
export function userApi(request: UserRequest): UserApi {
  return async <T>(method: string, path: string, body?: object) => {
    const answer = await request(method, path, body);
    const text = answer.body.toString();
    if (answer.status >= 400)
      throw new Error(`${method} ${path} failed with status ${answer.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
}
