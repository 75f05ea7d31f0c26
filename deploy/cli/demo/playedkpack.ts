/** kpack, played by a program: where a demo runs there is nothing that containers could be built with. */
import { z } from "zod";
import { type Part, type PlayedOptions, startPlayed } from "./played.ts";
import type { Stage } from "./stage.ts";

const ready = z.object({ builder: z.object({ kind: z.string(), name: z.string() }) });

/** The part: it says which builder there is. */
export const kpackPart: Part<z.infer<typeof ready>> = {
  plays: "kpack",
  flag: "kpack",
  command: "npm run demo -- paas",
  ready,
};

/** Starts the program on the stage's cluster; resolves when Images are built. Throws what `startPlayed` throws. */
export async function startPlayedKpack(
  stage: Stage,
  options: Pick<PlayedOptions, "program" | "onEnd" | "signal">,
): Promise<void> {
  await startPlayed(stage, kpackPart, { ...options, args: [], env: { KUBECONFIG: stage.kubeconfigPath } });
}
