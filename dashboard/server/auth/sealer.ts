/** Encryption of data that others can read: cookies, and records on the bus. */
import { hkdfSync } from "node:crypto";
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import type { Key } from "./keys.ts";

/** Decrypted data. */
export interface Opened {
  readonly text: string;
  /** Whether the first key, which encrypts, was used. */
  readonly by: "first" | "older";
}

/** Encrypts and decrypts text: JWE (RFC 7516), `dir` with AES-256 in GCM. */
export interface Sealer {
  seal(text: string): Promise<string>;
  /** Undefined if the text was not encrypted with one of the keys for this purpose, or was modified. */
  open(sealed: string): Promise<Opened | undefined>;
}

/** The purpose is part of the derived key, so data encrypted for one purpose cannot be decrypted for another. */
export interface Purpose {
  readonly name: string;
  /** A secret that decryption needs in addition to the key. */
  readonly secret?: string;
}

/** A sealer for one purpose, using the current keys. */
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

/** Decoders ignore the unused bits of the last base64 character. Requiring the canonical form detects changes there. */
const isCanonical = (part: string): boolean => Buffer.from(part, "base64url").toString("base64url") === part;
