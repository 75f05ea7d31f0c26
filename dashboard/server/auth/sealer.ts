/** Encrypting what lies where others can read it: in a browser, and on the bus. */
import { hkdfSync } from "node:crypto";
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import type { Key } from "./keys.ts";

/** What was sealed. */
export interface Opened {
  readonly text: string;
  /** Whether it was sealed with the key that is the first now. */
  readonly by: "first" | "older";
}

/** Encrypts and decrypts text: JWE (RFC 7516), `dir` with AES-256 in GCM. */
export interface Sealer {
  seal(text: string): Promise<string>;
  /** Undefined when it was not sealed with one of the keys and for this purpose, or was changed since. */
  open(sealed: string): Promise<Opened | undefined>;
}

/** What a key is used for: what was sealed for one purpose can not be opened for another. */
export interface Purpose {
  readonly name: string;
  /** A secret that whoever opens it has to know beside the key. */
  readonly secret?: string;
}

/** A sealer for one purpose, with the keys as they are now. */
export function sealer(keys: () => readonly Key[], { name, secret = "" }: Purpose): Sealer {
  // RFC 5869
  const derive = (key: Key) =>
    new Uint8Array(hkdfSync("sha256", key.secret, secret, `denrei ${name}`, key.secret.length));
  return {
    async seal(text) {
      const [key] = keys() as [Key];
      return new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.id })
        .encrypt(derive(key));
    },
    async open(sealed) {
      if (!sealed.split(".").every(isCanonical)) return undefined;
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(
          sealed,
          ({ kid }) => {
            const key = keys().find(({ id }) => id === kid);
            if (key === undefined) throw new errors.JWEDecryptionFailed();
            return derive(key);
          },
          { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] },
        );
        return {
          text: new TextDecoder().decode(plaintext),
          by: protectedHeader.kid === keys()[0]?.id ? "first" : "older",
        };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

/** The last letter of base64 may have bits that nobody reads: who changed them would not be found out. */
const isCanonical = (part: string): boolean => Buffer.from(part, "base64url").toString("base64url") === part;
