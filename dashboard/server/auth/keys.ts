/** Keys that sessions are encrypted with: the first in the file for new ones, the others for those that are there. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { ConfigError } from "../../../bus/config/config.ts";

/** One key, and what names it. */
export interface Key {
  readonly id: string;
  readonly secret: Uint8Array;
}

/**
 * The keys as they are now. A new one goes below the first until every replica has it: a replica can not read what another
 * one writes with a key that it does not have yet.
 */
export interface Keys {
  (): readonly Key[];
  stop(): void;
}

const keyBytes = 32;

/** Opens the file, and reads it again every `rereadMillis`; what is no file of keys leaves those that there were. Throws like {@link readKeys}. */
export async function openKeys(path: string, log: Logger, rereadMillis: number): Promise<Keys> {
  let keys = await readKeys(path);
  let told: string | undefined;
  let reading = false;
  const again = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      const found = await readKeys(path);
      if (idsOf(found) !== idsOf(keys)) log.info({ keys: idsOf(found) }, "keys of sessions have changed");
      keys = found;
      told = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== told)
        log.error({ err: error }, "keys of sessions can not be read, those of before stay");
      told = message;
    } finally {
      reading = false;
    }
  };
  const timer = setInterval(again, rereadMillis);
  timer.unref();
  return Object.assign(() => keys, { stop: () => clearInterval(timer) });
}

/** Reads the file. Throws a `ConfigError` that says what is wrong with it, and in which line. */
export async function readKeys(path: string): Promise<readonly Key[]> {
  const lines = (await textOf(path)).split("\n").map((line) => line.trim());
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

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new ConfigError(`expected the keys of sessions in ${path}, but ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

const idsOf = (keys: readonly Key[]): string => keys.map(({ id }) => id).join(" ");
