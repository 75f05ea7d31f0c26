/** Keys that sessions are encrypted with: the first in the file for new ones, the others for those that are there. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import { ConfigError } from "../../../bus/process/config.ts";

/** One key, and what names it. */
export interface Key {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** Encrypts and decrypts text: JWE (RFC 7516), `dir` with AES-256 in GCM. */
export interface Sealer {
  seal(text: string): Promise<string>;
  /** The text; undefined when it was not sealed with one of the keys, or was changed since. */
  open(sealed: string): Promise<string | undefined>;
}

const keyBytes = 32;

/** Reads the file. Throws a `ConfigError` that says what is wrong with it, and in which line. */
export async function readKeys(path: string): Promise<readonly Key[]> {
  const lines = (await readFile(path, "utf8")).split("\n").map((line) => line.trim());
  const keys = lines.flatMap((line, at) => {
    if (line === "") return [];
    const secret = Buffer.from(line, "base64");
    if (secret.length !== keyBytes) {
      throw new ConfigError(
        `expected a key of ${keyBytes} bytes in base64 in line ${at + 1} of ${path}, found ${secret.length} bytes. Make one: openssl rand -base64 ${keyBytes}`,
      );
    }
    return [{ id: createHash("sha256").update(secret).digest("base64url").slice(0, 8), secret }];
  });
  if (keys.length === 0)
    throw new ConfigError(
      `expected a key in ${path}, found none. Make one: openssl rand -base64 ${keyBytes} > ${path}`,
    );
  return keys;
}

/** A sealer with the keys as they are now; `derive` makes a key for one purpose of each. */
export function sealer(keys: () => readonly Key[], derive: (key: Key) => Uint8Array): Sealer {
  return {
    async seal(text) {
      const [key] = keys() as [Key];
      return new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.id })
        .encrypt(derive(key));
    },
    async open(sealed) {
      try {
        const { plaintext } = await compactDecrypt(
          sealed,
          ({ kid }) => {
            const key = keys().find(({ id }) => id === kid);
            if (key === undefined) throw new errors.JWEDecryptionFailed();
            return derive(key);
          },
          { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] },
        );
        return new TextDecoder().decode(plaintext);
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
