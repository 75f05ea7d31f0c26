/** Who a call is from. */
import type { Interceptor } from "@connectrpc/connect";
import { type TokenOptions, webToken } from "./token.ts";

/** For the WebService. The only pair of the cookie, with an equals sign in it: any other text ends the server's process. */
export const asAdministrator =
  (who: Omit<TokenOptions, "now">): Interceptor =>
  (next) =>
  (request) => {
    request.header.set("cookie", `token=${webToken({ ...who, now: Date.now() })}`);
    return next(request);
  };

/** For the APIService. */
export const withApiKey =
  (key: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set("authorization", `API-KEY ${key}`);
    return next(request);
  };
