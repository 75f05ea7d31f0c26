/** Keys, which are returned once, and their stored hashes. */
import { createHash, randomBytes, randomInt } from "node:crypto";

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Random lower-case letters and digits. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Looks like a bcrypt hash but is fast to compute, because tests create many. */
export function hashOf(key: string): string {
  const salt = encoded(randomBytes(22));
  return `$2a$10$${salt}${digest(salt, key)}`;
}

/** Whether the hash belongs to the key. */
export const matches = (hash: string, key: string): boolean =>
  hash.slice(29) === digest(hash.slice(7, 29), key);

const digest = (salt: string, key: string): string =>
  encoded(createHash("sha256").update(salt).update(key).digest().subarray(0, 31));

const encoded = (bytes: Buffer): string => [...bytes].map((byte) => bcryptAlphabet[byte % 64]).join("");
