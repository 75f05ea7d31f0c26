/** Calling GitHub with a token. */
import { createHash } from "node:crypto";
import type { Caller } from "./call.ts";

/** No header can carry other characters, so GitHub has given no token with any. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** Whoever has the token; `name` is shown in errors. */
export const tokenCaller = (name: string, token: string): Caller => ({
  name,
  // Which installation it is of, the token does not tell.
  limitedAs: `token ${createHash("sha256").update(token).digest("hex").slice(0, 16)}`,
  authorization: async () => `Bearer ${token}`,
});
