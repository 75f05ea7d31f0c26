/** Starts a real Gitea with one user, and calls its API. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Child, type ChildSpec, freePort } from "../../deploy/local/index.ts";
import { giteaProgram } from "./program.ts";

const run = promisify(execFile);

/** A running Gitea. */
export interface Gitea {
  readonly url: string;
  readonly user: string;
  /** Calls its API as the user. Resolves with the body of the answer; rejects with it if the status is an error. */
  api<T>(method: string, path: string, body?: object): Promise<T>;
  /** Runs git, which knows the user's password. Resolves with its output. */
  git(folder: string, ...args: readonly string[]): Promise<string>;
}

/** Where Gitea runs. */
export interface GiteaHost {
  readonly directory: string;
  spawn(spec: ChildSpec): Promise<Child>;
}

const user = "kaito";
const password = "a password for tests";

/** Starts it; it ends with its host. */
export async function startGitea({ directory, spawn }: GiteaHost): Promise<Gitea> {
  const { command, folder } = await giteaProgram();
  const home = join(directory, "gitea");
  await mkdir(home, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(home, "app.ini");
  await writeFile(config, settings(home, port, folder));
  const env = { HOME: home };
  const admin = (...args: readonly string[]) =>
    run(command, [...args, "--config", config], { env: { ...process.env, ...env } });
  await admin("migrate");
  const named = ["--username", user, "--password", password, "--email", "kaito@example.com"];
  const token = ["--access-token", "--access-token-scopes", "all", "--must-change-password=false"];
  const { stdout } = await admin("admin", "user", "create", "--admin", ...named, ...token);
  const authorization = `token ${/[0-9a-f]{40}/.exec(stdout)?.[0]}`;
  await spawn({
    name: "gitea",
    command,
    args: ["web", "--config", config],
    env,
    ready: async () => {
      const { ok, status } = await fetch(`${url}/api/v1/version`);
      if (!ok) throw new Error(`expected an answer of its API, found ${status}`);
    },
    readyMillis: 120_000,
  });
  return {
    url,
    user,
    async api<T>(method: string, path: string, body?: object): Promise<T> {
      const headers = { authorization, "content-type": "application/json" };
      const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as T;
    },
    git: (folder, ...args) => git(home, folder, args),
  };
}

/** The address of a repository with the user's password, for git. */
export const remoteOf = (gitea: Gitea, repository: string): string => {
  const url = new URL(`${gitea.url}/${repository}.git`);
  return Object.assign(url, { username: user, password }).href;
};

async function git(home: string, folder: string, args: readonly string[]): Promise<string> {
  const person = ["-c", "user.name=Kaito", "-c", "user.email=kaito@example.com"];
  const own = { HOME: home, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" };
  const { stdout } = await run("git", [...person, "-C", folder, ...args], {
    env: { ...process.env, ...own },
  });
  return stdout.trim();
}

const settings = (home: string, port: number, folder: string): string => `
RUN_MODE = prod
WORK_PATH = ${home}
# In a container, tests may run as root.
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${folder}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = ${join(home, "gitea.db")}
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = loopback
[log]
MODE = console
LEVEL = Warn
`;
