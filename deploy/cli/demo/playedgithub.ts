/** GitHub, played by a program: for a demo, or while functions are written, there is none that could be asked. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { allowedUrlsVariable } from "../../../bus/github/allowed.ts";
import { type Part, type PlayedOptions, startPlayed } from "./played.ts";
import type { Stage } from "./stage.ts";

const ready = z.object({
  url: z.url(),
  appId: z.int(),
  installationId: z.int(),
  privateKey: z.string(),
  clientId: z.string(),
  clientSecret: z.string(),
  login: z.string(),
  userToken: z.string(),
  repository: z.string(),
});

/**
 * What there is on it, and who somebody is there: its API is below `/api/v3` of `url`, the key is PEM, the client is what the App
 * is to people, `login` and the token are of somebody who may write to the repository, whose name is `owner/name`.
 */
export type PlayedGitHub = Readonly<z.infer<typeof ready>>;

/** The part, as `command` needs it. */
export const githubPart = (command: string): Part<PlayedGitHub> => ({
  plays: "GitHub",
  flag: "github",
  command,
  ready,
});

/** How it is played. */
export interface PlayOptions extends Pick<PlayedOptions, "program" | "onEnd" | "signal"> {
  readonly part: Part<PlayedGitHub>;
  readonly repository: string;
  /** How long tokens of the App work. */
  readonly tokenSeconds: number;
  /** Where the dashboard is whose users connect their accounts there; none unless given. */
  readonly dashboardUrl?: string | undefined;
}

/** Starts the program; resolves when it answers. Throws what `startPlayed` throws. */
export function startPlayedGitHub(
  { spawn, hook: { urls, secret } }: Pick<Stage, "spawn" | "hook">,
  options: PlayOptions,
): Promise<PlayedGitHub> {
  const { part, repository, tokenSeconds, dashboardUrl, ...rest } = options;
  const flags = {
    "--deliver-to": urls.join(","),
    "--token-seconds": String(tokenSeconds),
    "--repository": repository,
    ...(dashboardUrl !== undefined && { "--dashboard-url": dashboardUrl }),
  };
  return startPlayed({ spawn }, part, {
    ...rest,
    args: Object.entries(flags).flat(),
    // A command line is for all to see.
    env: { DEMO_WEBHOOK_SECRET: secret },
  });
}

/** The environment in which workers may send requests to it. */
export const allowedAs = (url: string): Readonly<Record<string, string>> => ({ [allowedUrlsVariable]: url });

/** The environment of workers and of a dashboard, with the App for connecting accounts. The folder keeps the secret. */
export async function connectionOf(
  { url, clientId, clientSecret }: Pick<PlayedGitHub, "url" | "clientId" | "clientSecret">,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const secretPath = join(directory, "github-client-secret");
  await writeFile(secretPath, clientSecret, { mode: 0o600 });
  return {
    ...allowedAs(url),
    DENREI_GITHUB_URL: url,
    DENREI_GITHUB_CLIENT_ID: clientId,
    DENREI_GITHUB_CLIENT_SECRET: secretPath,
  };
}
