/** Encryption keys of sessions. The first in the file encrypts; all of them decrypt. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ConfigError, reread } from "denrei/runtime";
import type { Logger } from "pino";

/** A key and its ID. */
export interface Key {
  readonly id: string;
  readonly secret: Uint8Array;
}

/**
 * The current keys. During a rotation, put the new key below the first until every replica has read it: a replica cannot decrypt
 * with a key that it does not have.
 */
export interface Keys {
  (): readonly Key[];
  stop(): void;
}

const keyBytes = 32;

/** Reads the file now and every `rereadMillis`. Keeps the current keys while the file is invalid. Throws like {@link readKeys}. */
export async function openKeys(path: string, log: Logger, rereadMillis: number): Promise<Keys> {
  const keys = await reread({
    read: () => readKeys(path),
    everyMillis: rereadMillis,
    isSame: (a, b) => idsOf(a) === idsOf(b),
    onChange: (found) => log.info({ keys: idsOf(found) }, "session keys changed"),
    onError: (error) => log.error({ err: error }, "cannot read session keys, keeping the current ones"),
  });
  return Object.assign(() => keys.current(), { stop: keys.stop });
}

/** Reads the file. Throws a `ConfigError` if a line is not a key, or the file has none. */
export async function readKeys(path: string): Promise<readonly Key[]> {
  const lines = (await textOf(path)).split("\n").map((line) => line.trim());
  const keys = lines.flatMap((line, at) => {
    if (line === "") return [];
    const secret = Buffer.from(line, "base64");
    if (secret.length !== keyBytes) {
      throw new ConfigError(
        `line ${at + 1} of ${path} is not a session key: expected ${keyBytes} bytes in base64, found ${secret.length} bytes. Create one: openssl rand -base64 ${keyBytes}`,
      );
    }
    return [{ id: createHash("sha256").update(secret).digest("base64url").slice(0, 8), secret }];
  });
  if (keys.length === 0)
    throw new ConfigError(
      `no session key in ${path}. Create one: openssl rand -base64 ${keyBytes} > ${path}`,
    );
  return keys;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new ConfigError(`cannot read the session keys in ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const idsOf = (keys: readonly Key[]): string => keys.map(({ id }) => id).join(" ");
