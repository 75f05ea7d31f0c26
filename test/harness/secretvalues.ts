/** Values of Secrets, which are stored in base64. */
import type { SecretObject } from "../../bus/kube/kind.ts";

/** Encodes a value. */
export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Decodes all values. A missing Secret has none. */
export const texts = (secret: Pick<SecretObject, "data"> | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
