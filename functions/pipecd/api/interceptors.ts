/** Interceptors that add credentials to calls. */
import type { Interceptor } from "@connectrpc/connect";
import { type TokenOptions, webToken } from "./token.ts";

/** For the WebService. The cookie must have exactly one pair, with an equals sign: other text crashes the server. */
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
