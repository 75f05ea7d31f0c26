/** What `denrei dev` plays: programs in place of what can not be had on one machine. */
import { programOf, refuseOwnCluster, startPlayedInCluster } from "../demo/played.ts";
import { githubPart } from "../demo/playedgithub.ts";
import { kpackPart } from "../demo/playedkpack.ts";
import { addressesOf, pipecdPart } from "../demo/playedpipecd.ts";
import type { DevGitHub } from "./github.ts";
import type { Ground } from "./ground.ts";
import type { Play } from "./playable.ts";
import type { Receiver } from "./receiver.ts";

/** The paths of programs that play it. */
export type Programs = Readonly<Partial<Record<Play, string>>>;

/** What they are started with. */
export interface PlayingOptions {
  readonly ground: Ground;
  readonly receiver: Receiver | undefined;
  /** One of them ended though nobody stopped it. */
  readonly onEnd: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** What is played. */
export interface Played {
  readonly github: DevGitHub | undefined;
  /** What replicas have to be told of it in their environment. */
  readonly env: Readonly<Record<string, string>>;
}

const command = (play: Play): string => `npm run dev -- --play ${play}`;

/**
 * Looks whether all of it can be played, and returns how to begin. Throws a `UsageError` where a program is missing, and where
 * images or pods would be played in somebody's own cluster.
 */
export function preparePlays(
  plays: readonly Play[],
  programs: Programs,
): (options: PlayingOptions) => Promise<Played> {
  const parts = {
    github: githubPart(command("github")),
    kpack: kpackPart(command("kpack")),
    pipecd: pipecdPart(command("pipecd")),
  };
  for (const play of plays) {
    programOf(parts[play], programs[play]);
    if (play === "kpack") refuseOwnCluster("--play kpack", "builds", "docs/paas.md");
    if (play === "pipecd") refuseOwnCluster("--play pipecd", "runs", "docs/pipecd.md");
  }
  /** Starts one of them with its program, if it is to be played. */
  async function begin<T>(play: Play, start: (program: string) => Promise<T>): Promise<T | undefined> {
    return plays.includes(play) ? start(programs[play] ?? "") : undefined;
  }

  return async ({ ground, receiver, ...options }) => {
    const { spawn } = ground.processes;
    const stage = { spawn, kubeconfigPath: ground.kubeconfigPath };
    const [github, , pipecd] = await Promise.all([
      begin("github", async (program) => {
        // Kinds of this project's functions, which may be broken at the moment.
        const { openGitHub } = await import("./github.ts");
        return receiver && openGitHub({ ...options, part: parts.github, program, ground, receiver });
      }),
      begin("kpack", (program) => startPlayedInCluster(stage, parts.kpack, { ...options, program })),
      begin("pipecd", (program) => startPlayedInCluster(stage, parts.pipecd, { ...options, program })),
    ]);
    return { github, env: { ...github?.connection, ...(pipecd && addressesOf(pipecd)) } };
  };
}
