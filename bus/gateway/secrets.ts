/**
 * Secrets of webhooks: a folder with one file per hook. The file has the name of the provider and the hook, `<provider>.<hook>`, and
 * one secret per line: during a rotation, the old and the new one. A mounted Kubernetes Secret is such a folder.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { ConfigError } from "../config/config.ts";
import { reread } from "../process/reread.ts";
import type { WebhookProvider } from "../webhooks/provider.ts";

/** Secrets by the name of their file, `<provider>.<hook>`. */
export type Secrets = ReadonlyMap<string, readonly string[]>;

/** The current secrets. */
export interface SecretsFolder {
  of(provider: string, hook: string): readonly string[] | undefined;
  stop(): void;
}

/** Options of {@link openSecrets}. */
export interface SecretsOptions {
  readonly providers: ReadonlyMap<string, WebhookProvider>;
  readonly log: Logger;
  readonly rereadMillis: number;
}

/** A provider, which has no dot, and a hook. */
const fileName = /^([a-z][a-z0-9-]*)\.[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** The folder has no secret. Not thrown for a folder that cannot be read. */
class NoSecretsError extends ConfigError {}

/**
 * Opens a folder and reads it again every `rereadMillis`. Throws a {@link ConfigError} if it has no secret, because the gateway
 * could not verify anything. If it has none later, every request is rejected. If it cannot be read later, for example because
 * too many files are open, the known secrets stay valid.
 */
export async function openSecrets(
  folder: string,
  { providers, log, rereadMillis }: SecretsOptions,
): Promise<SecretsFolder> {
  const secrets = await reread<Secrets>({
    read: () => readSecrets(folder),
    everyMillis: rereadMillis,
    isSame: sameSecrets,
    onChange(found) {
      log.info({ hooks: [...found.keys()] }, "webhook secrets changed");
      warnOfUnusable(found, providers, log);
    },
    onError: (error) => log.error({ err: error }, "failed to read webhook secrets"),
    afterError: (error, last) => (error instanceof NoSecretsError ? new Map() : last),
  });
  log.info({ hooks: [...secrets.current().keys()] }, "webhook secrets read");
  warnOfUnusable(secrets.current(), providers, log);
  return {
    of: (provider, hook) => secrets.current().get(`${provider}.${hook}`),
    stop: secrets.stop,
  };
}

/** Logs secrets that cannot verify anything: their hook would answer 401, and nothing else would show why. */
function warnOfUnusable(secrets: Secrets, providers: SecretsOptions["providers"], log: Logger): void {
  for (const [hook, lines] of secrets) {
    const [provider = ""] = hook.split(".", 1);
    const found = providers.get(provider);
    if (found === undefined)
      log.warn({ hook, providers: [...providers.keys()] }, "webhook secret ignored, unknown provider");
    for (const [at, line] of lines.entries()) {
      const problem = found?.signature.problemOf(line);
      if (problem !== undefined) log.warn({ hook, secret: at + 1, problem }, "webhook secret cannot be used");
    }
  }
}

/**
 * Reads a folder. A mounted Secret is read consistently: never a mix of versions, and never empty because the kubelet has just
 * swapped the files. Throws {@link ConfigError}.
 */
export async function readSecrets(folder: string): Promise<Secrets> {
  // Retry: the Secret was swapped while it was read. The kubelet swaps it once a minute at most.
  for (;;) {
    const before = await versionOf(folder);
    const [read] = await Promise.allSettled([readOnce(folder)]);
    if ((await versionOf(folder)) !== before) continue;
    if (read.status === "rejected") throw read.reason;
    return read.value;
  }
}

/** The version of a mounted Secret: the folder behind the link `..data`, which is swapped as a whole. Other folders have none. */
const versionOf = (folder: string): Promise<string | undefined> =>
  readlink(join(folder, "..data")).catch(() => undefined);

async function readOnce(folder: string): Promise<Secrets> {
  const all = await namesIn(folder);
  const names = all.filter((name) => fileName.test(name));
  const secrets = new Map<string, readonly string[]>();
  for (const name of names) {
    const lines = (await textIn(join(folder, name))).split("\n").map((line) => line.trim());
    const found = lines.filter((line) => line !== "");
    if (found.length > 0) secrets.set(name, found);
  }
  if (secrets.size > 0) return secrets;
  const others = all.length === 0 ? "none" : `only files with other names (${all.join(", ")})`;
  throw new NoSecretsError(
    `no webhook secrets in ${folder}: expected one file per webhook, <provider>.<hook>, with one secret per line, found ${
      names.length === 0 ? others : `only empty files (${names.join(", ")})`
    }. Write the secret that is set on the hook's page at GitHub into ${join(folder, "github.<hook>")}: <hook> is the last part of its URL.`,
  );
}

/** The text of a file; empty if the file was deleted since the listing, or if its link is broken. */
async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new ConfigError(`cannot read the secrets of a webhook in ${file}: ${message}.`, { cause: error });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // A mounted Secret has links to its files, and folders whose names start with two dots.
    return entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => name);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = `cannot read the folder of webhook secrets ${folder}:`;
    if (code === "ENOENT") throw new NoSecretsError(`${text} it does not exist.`, { cause: error });
    throw new ConfigError(`${text} ${message}.`, { cause: error });
  }
}

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
