/**
 * Secrets of webhooks: a folder with a file for each hook, named like it, with a secret in each line. While one is
 * exchanged for another both are there. A mounted Secret of Kubernetes is such a folder.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { ConfigError } from "../config/config.ts";
import { reread } from "../process/reread.ts";

/** Secrets by hook. */
export type Secrets = ReadonlyMap<string, readonly string[]>;

/** The secrets as they are now. */
export interface SecretsFolder {
  of(hook: string): readonly string[] | undefined;
  stop(): void;
}

const hookName = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** There is no secret, which is another thing than one that can not be read. */
class NoSecretsError extends ConfigError {}

/**
 * Opens a folder, and reads it again every `rereadMillis`. Throws a {@link ConfigError} when there is no secret in it:
 * whoever has none takes anything for a webhook. Without any later, nothing is accepted; what can not be read, as when
 * too many files are open, stays as it was.
 */
export async function openSecrets(folder: string, log: Logger, rereadMillis: number): Promise<SecretsFolder> {
  const secrets = await reread<Secrets>({
    read: () => readSecrets(folder),
    everyMillis: rereadMillis,
    isSame: sameSecrets,
    onChange: (found) => log.info({ hooks: [...found.keys()] }, "secrets of webhooks have changed"),
    onError: (error) => log.error({ err: error }, "secrets of webhooks can not be read"),
    afterError: (error, last) => (error instanceof NoSecretsError ? new Map() : last),
  });
  log.info({ hooks: [...secrets.current().keys()] }, "secrets of webhooks read");
  return { of: (hook) => secrets.current().get(hook), stop: secrets.stop };
}

/**
 * Reads a folder. A mounted Secret is read as it was at one time: never one hook's secrets of before beside another's of
 * after an exchange, nor none because the files have just been exchanged. Throws {@link ConfigError}.
 */
export async function readSecrets(folder: string): Promise<Secrets> {
  // Whoever comes round again has met an exchange, and the kubelet makes one a minute at most.
  for (;;) {
    const before = await versionOf(folder);
    const [read] = await Promise.allSettled([readOnce(folder)]);
    if ((await versionOf(folder)) !== before) continue;
    if (read.status === "rejected") throw read.reason;
    return read.value;
  }
}

/** Which of its versions a mounted Secret is: the folder behind the link `..data`, exchanged as a whole. Another folder has none. */
const versionOf = (folder: string): Promise<string | undefined> =>
  readlink(join(folder, "..data")).catch(() => undefined);

async function readOnce(folder: string): Promise<Secrets> {
  const names = await namesIn(folder);
  const secrets = new Map<string, readonly string[]>();
  for (const name of names) {
    const lines = (await textIn(join(folder, name))).split("\n").map((line) => line.trim());
    const found = lines.filter((line) => line !== "");
    if (found.length > 0) secrets.set(name, found);
  }
  if (secrets.size > 0) return secrets;
  throw new NoSecretsError(
    `expected a file for each webhook in ${folder}, with its secret in a line, found ${
      names.length === 0 ? "none" : `nothing in ${names.join(", ")}`
    }. Write the secret that the hook has on GitHub's page into ${join(folder, "<hook>")}: <hook> is the last part of its URL.`,
  );
}

/** The text of a file; none when it is gone since its name was read, or its link leads nowhere. */
async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new ConfigError(`expected the secrets of a webhook in ${file}, but ${message}.`, { cause: error });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // A mounted Secret has links to its files, and folders whose names begin with two dots.
    return entries
      .filter((entry) => !entry.isDirectory() && hookName.test(entry.name))
      .map(({ name }) => name);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = `expected a folder with the secrets of webhooks at ${folder}, but`;
    if (code === "ENOENT") throw new NoSecretsError(`${text} there is none.`, { cause: error });
    throw new ConfigError(`${text} ${message}.`, { cause: error });
  }
}

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
