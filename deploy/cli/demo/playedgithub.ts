/** GitHub, played by a program: for demos there is none that they could ask. */
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
 * What there is on it, and who the demo is there: its API is below `/api/v3` of `url`, the key is PEM, the token is of
 * somebody who may write to the repository, whose name is `owner/name`.
 */
export type PlayedGitHub = Readonly<z.infer<typeof ready>>;

/** The part, in one of the demos. */
export const githubPart = (act: string): Part<PlayedGitHub> => ({
  plays: "GitHub",
  flag: "github",
  act,
  ready,
});

/** How it is played. */
export interface PlayOptions extends Pick<PlayedOptions, "program" | "onEnd" | "signal"> {
  readonly act: string;
  readonly repository: string;
  /** How long tokens of the App work. */
  readonly tokenSeconds: number;
}

/** Starts the program; resolves when it answers. Throws what `startPlayed` throws. */
export function startPlayedGitHub(stage: Stage, options: PlayOptions): Promise<PlayedGitHub> {
  const { act, repository, tokenSeconds, ...rest } = options;
  const { urls, secret } = stage.hook;
  const flags = {
    "--deliver-to": urls.join(","),
    "--token-seconds": String(tokenSeconds),
    "--repository": repository,
  };
  return startPlayed(stage, githubPart(act), {
    ...rest,
    args: Object.entries(flags).flat(),
    // A command line is for all to see.
    env: { DEMO_WEBHOOK_SECRET: secret },
  });
}
