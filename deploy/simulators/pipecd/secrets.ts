/** Keys that are told once, and what is stored of them. */
import { createHash, randomBytes, randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
const bcryptLetters = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Lower-case letters and digits. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join("");

/** Looks like a hash by bcrypt, and costs nothing: tests make many of them. */
export function hashOf(key: string): string {
  const salt = encoded(randomBytes(22));
  return `$2a$10$${salt}${digest(salt, key)}`;
}

/** Whether the hash was made of the key. */
export const matches = (hash: string, key: string): boolean =>
  hash.slice(29) === digest(hash.slice(7, 29), key);

const digest = (salt: string, key: string): string =>
  encoded(createHash("sha256").update(salt).update(key).digest().subarray(0, 31));

const encoded = (bytes: Buffer): string => [...bytes].map((byte) => bcryptLetters[byte % 64]).join("");
