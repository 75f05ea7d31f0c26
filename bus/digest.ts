/** What tells values apart: the same for values that are equal, whatever the order of their fields. */
import { createHash } from "node:crypto";

/** JSON with the fields of objects in order. Fields that are undefined are left out. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** The SHA-256 of a JSON value, in hexadecimal digits: all 64, or the first ones. */
export const digestOf = (value: unknown, length = 64): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, length);
