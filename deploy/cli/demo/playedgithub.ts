/** GitHub, played by a program: for a demo, or while functions are written, there is none that could be asked. */
import { z } from "zod";
import { type Part, type PlayedOptions, startPlayed } from "./played.ts";
import type { Stage } from "./stage.ts";

const ready = z.object({
  url: z.url(),
  appId: z.int(),
  installationId: z.int(),
  privateKey: z.string(),
  userToken: z.string(),
  repository: z.string(),
});

/**
 * What there is on it, and who somebody is there: its API is below `/api/v3` of `url`, the key is PEM, the token is of
 * somebody who may write to the repository, whose name is `owner/name`.
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
}

/** Starts the program; resolves when it answers. Throws what `startPlayed` throws. */
export function startPlayedGitHub(
  { spawn, hook: { urls, secret } }: Pick<Stage, "spawn" | "hook">,
  options: PlayOptions,
): Promise<PlayedGitHub> {
  const { part, repository, tokenSeconds, ...rest } = options;
  const flags = {
    "--deliver-to": urls.join(","),
    "--token-seconds": String(tokenSeconds),
    "--repository": repository,
  };
  return startPlayed({ spawn }, part, {
    ...rest,
    args: Object.entries(flags).flat(),
    // A command line is for all to see.
    env: { DEMO_WEBHOOK_SECRET: secret },
  });
}
