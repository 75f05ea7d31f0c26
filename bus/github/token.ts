/** Calls GitHub with a token. */
import { createHash } from "node:crypto";
import type { Caller } from "./call.ts";

/** No header can carry other characters, so GitHub tokens have none. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** The holder of a token; `name` is shown in errors. */
export const tokenCaller = (name: string, token: string): Caller => ({
  name,
  // The token does not reveal its installation.
  limitedAs: `token ${createHash("sha256").update(token).digest("hex").slice(0, 16)}`,
  authorization: async () => `Bearer ${token}`,
});
