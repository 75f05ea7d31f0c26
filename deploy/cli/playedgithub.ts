/** GitHub, played by a program that is given on the command line: for the demo there is none that it could ask. */
import { z } from "zod";
import { ChildStartError, describeExit } from "../local/index.ts";
import type { Stage } from "./stage.ts";
import { AbsentError, UsageError } from "./usage.ts";

/** What there is on it, and who the demo is there. */
export interface PlayedGitHub {
  /** Its API is below `/api/v3`. */
  readonly url: string;
  readonly appId: number;
  /** Where the App is installed. */
  readonly installationId: number;
  /** PEM. */
  readonly privateKey: string;
  /** Of somebody who may write to the repository. */
  readonly userToken: string;
  /** `owner/name` */
  readonly repository: string;
}

const playedSchema = z.object({
  url: z.url(),
  appId: z.int(),
  installationId: z.int(),
  privateKey: z.string(),
  userToken: z.string(),
  repository: z.string(),
});

/** How it is played. */
export interface PlayOptions {
  /** The program's path. */
  readonly program: string;
  readonly repository: string;
  /** How long tokens of the App work. */
  readonly tokenSeconds: number;
  /** Called when it ends before the stage does. All that was on it is gone then. */
  readonly onEnd: (error: Error) => void;
  readonly signal: AbortSignal;
}

const whatToDo =
  "It comes with a checkout and its development dependencies: npm ci && npm run demo -- github";

/** The program is not to be found. */
export const noProgram = (found: string): UsageError =>
  new UsageError(
    `expected --github with the path of a program that plays GitHub, found ${found}. ${whatToDo}`,
  );

/** Starts the program; resolves when it answers. Throws `ChildStartError`, and `AbsentError` where a package is missing. */
export async function startPlayedGitHub(stage: Stage, options: PlayOptions): Promise<PlayedGitHub> {
  const { program, repository, tokenSeconds, onEnd, signal } = options;
  const { urls, secret } = stage.hook;
  const played = Promise.withResolvers<PlayedGitHub>();
  let answers = false;
  const flags = {
    "--deliver-to": urls.join(","),
    "--token-seconds": String(tokenSeconds),
    "--repository": repository,
  };
  try {
    await stage.spawn(
      {
        name: "github",
        command: process.execPath,
        args: [program, ...Object.entries(flags).flat()],
        // A command line is for all to see.
        env: { DEMO_WEBHOOK_SECRET: secret, NODE_NO_WARNINGS: "1" },
        onLine(line) {
          const found = parsed(line);
          if (found === undefined) return;
          answers = true;
          played.resolve(found);
        },
        async ready() {
          if (!answers) throw new Error("it has not said what there is");
        },
        onUnexpectedExit: (exit) =>
          onEnd(new AbsentError(`GitHub, played by ${program}, ${describeExit(exit)}`)),
      },
      signal,
    );
  } catch (error) {
    const lines = error instanceof ChildStartError ? error.lastLines.join("\n") : "";
    const missing = /Cannot find package '([^']+)'/.exec(lines)?.[1];
    if (missing === undefined) throw error;
    throw new AbsentError(`expected the package ${missing}, which ${program} needs. ${whatToDo}`);
  }
  return played.promise;
}

function parsed(line: string): PlayedGitHub | undefined {
  try {
    return playedSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const branch = "demo";

/**
 * Opens a pull request with one commit, as anybody would who has nothing but the API; resolves with its number. Throws an
 * `AbsentError` when it is refused.
 */
export async function openPullRequest(
  { url, userToken, repository }: PlayedGitHub,
  signal: AbortSignal,
): Promise<number> {
  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const request = `${method} /repos/${repository}/${path}`;
    const answer = await fetch(`${url}/api/v3/repos/${repository}/${path}`, {
      method,
      headers: { authorization: `Bearer ${userToken}`, accept: "application/vnd.github+json" },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    }).catch((error: Error) => {
      signal.throwIfAborted();
      throw new AbsentError(`expected GitHub at ${url} to answer ${request}, but ${reasonOf(error)}`);
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as T;
    throw new AbsentError(`expected ${request} to succeed, but GitHub answered ${answer.status}: ${text}`);
  }

  const main = await ask<{ commit: { sha: string } }>("GET", "branches/main");
  await ask("POST", "git/refs", { ref: `refs/heads/${branch}`, sha: main.commit.sha });
  const content = Buffer.from("Hello from Denrei.\n").toString("base64");
  await ask("PUT", "contents/hello.txt", { message: "Say hello", content, branch });
  const pull = { title: "Say hello", head: branch, base: "main" };
  return (await ask<{ number: number }>("POST", "pulls", pull)).number;
}

/** What fetch says of a connection is in the cause of its error. */
const reasonOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);
