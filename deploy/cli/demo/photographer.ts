/** Pictures of the dashboard's screens, taken by a program that has a browser. */
import { resolve } from "node:path";
import { z } from "zod";
import { AbsentError } from "../usage.ts";
import type { DashboardFront } from "./dashboards.ts";
import type { PaasPlay } from "./paassteps.ts";
import { type Part, startPlayed } from "./played.ts";

const ready = z.object({ pictures: z.array(z.string()).min(1) });

/** Three pictures of each screen, on a machine that is busy. Milliseconds. */
const longestMillis = 300_000;

/** The part, as `command` needs it. */
export const photographerPart = (command: string): Part<z.infer<typeof ready>> => ({
  plays: "a photographer",
  flag: "photographer",
  command,
  ready,
});

/** Takes the pictures, as the first of the people, who has connected GitHub; resolves with their paths. Throws what `startPlayed` throws. */
export async function photograph(
  { stage, namespace, github, signal }: Omit<PaasPlay, "records">,
  { url, people: [person] }: DashboardFront,
  { part, program, folder }: { part: Part<z.infer<typeof ready>>; program: string; folder: string },
): Promise<readonly string[]> {
  if (person === undefined) throw new AbsentError("expected somebody who can log in, found nobody");
  const flags = {
    "--url": url,
    "--namespace": namespace,
    "--github": github.login,
    "--folder": resolve(folder),
  };
  const { pictures } = await startPlayed(stage, part, {
    program,
    args: Object.entries(flags).flat(),
    // A command line is for all to see.
    env: { DEMO_PERSON: JSON.stringify({ name: person.name, password: person.password }) },
    // All of its pictures are there by then.
    onEnd: () => undefined,
    signal,
    readyMillis: longestMillis,
  });
  return pictures;
}
