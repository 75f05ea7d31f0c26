/** Digests of JSON values, independent of the order of their fields. */
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonicaljson.ts";

/** The SHA-256 of a JSON value, in hexadecimal digits: all 64, or the first ones. */
export const digestOf = (value: unknown, length = 64): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, length);
