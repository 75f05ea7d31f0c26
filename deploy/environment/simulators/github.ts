/** The GitHub simulator. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { allowedUrlsVariable } from "denrei/github";
import { z } from "zod";
import type { LocalProcesses } from "../../local/index.ts";
import type { Hook } from "../gateways.ts";
import { type Simulator, type StartOptions, startSimulator } from "./start.ts";

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
 * The simulated GitHub: its API is below `/api/v3` of `url`, and the private key of its App is PEM. The client is the App's for user
 * logins. `login` and `userToken` belong to a user who may write to the repository, `owner/name`.
 */
export type SimulatedGitHub = Readonly<z.infer<typeof ready>>;

export const githubSimulator: Simulator<SimulatedGitHub> = {
  name: "github",
  service: "GitHub",
  needs: "emulate",
  ready,
};

/** How to start it. */
export interface GitHubOptions extends Pick<StartOptions, "onEnd" | "onLine" | "signal"> {
  readonly repository: string;
  /** Lifetime of the App's tokens. */
  readonly tokenSeconds: number;
  /** The dashboard whose users connect their accounts; none unless given. */
  readonly dashboardUrl?: string | undefined;
}

/** Starts it; resolves when it answers. Throws what `startSimulator` throws. */
export function startGitHub(
  { spawn, hook: { urls, secret } }: Pick<LocalProcesses, "spawn"> & { readonly hook: Hook },
  { repository, tokenSeconds, dashboardUrl, ...rest }: GitHubOptions,
): Promise<SimulatedGitHub> {
  const flags = {
    "--deliver-to": urls.join(","),
    "--token-seconds": String(tokenSeconds),
    "--repository": repository,
    ...(dashboardUrl !== undefined && { "--dashboard-url": dashboardUrl }),
  };
  return startSimulator({ spawn }, githubSimulator, {
    ...rest,
    args: Object.entries(flags).flat(),
    // Other users of the machine can read a command line.
    env: { SIMULATOR_WEBHOOK_SECRET: secret },
  });
}

/** Environment variables that let workers send requests to it. */
export const allowedAs = (url: string): Readonly<Record<string, string>> => ({ [allowedUrlsVariable]: url });

/** Environment variables of workers and of a dashboard that connects accounts. The client secret is written to the folder. */
export async function connectionOf(
  { url, clientId, clientSecret }: Pick<SimulatedGitHub, "url" | "clientId" | "clientSecret">,
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
