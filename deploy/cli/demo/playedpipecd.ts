/** PipeCD, played by a program: where a demo runs no pod is really run, so nothing would answer. */
import { z } from "zod";
import { type Part, type PlayedOptions, startPlayed } from "./played.ts";
import type { Backstage } from "./stage.ts";

const ready = z.object({ web: z.string(), api: z.string() });

/** Where it is reached, as `host:port`, for its console's API and for holders of API keys. */
export type PlayedPipecd = Readonly<z.infer<typeof ready>>;

/** The part: it says where it is reached. */
export const pipecdPart: Part<PlayedPipecd> = {
  plays: "PipeCD",
  flag: "pipecd",
  command: "npm run demo -- pipecd",
  ready,
};

/** Starts the program on the stage's cluster; resolves when it is there. Throws what `startPlayed` throws. */
export const startPlayedPipecd = (
  { spawn, kubeconfigPath }: Pick<Backstage, "spawn" | "kubeconfigPath">,
  options: Pick<PlayedOptions, "program" | "onEnd" | "signal">,
): Promise<PlayedPipecd> =>
  startPlayed({ spawn }, pipecdPart, { ...options, args: [], env: { KUBECONFIG: kubeconfigPath } });
