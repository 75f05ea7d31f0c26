/** Starting `denrei up` and watching it. */
import { expect } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { type Place, type Running, start } from "./program.ts";
import { song } from "./song.ts";

await programs(...platformPrograms);

/** How long something that ends by itself may take to be gone. */
export const patience = { timeout: 30_000, interval: 100 };

/** Starts it in a place of its own; its sample sings a short song. */
export const up = ({ env }: Place, workers = 1): Running =>
  start(["up", "--workers", String(workers)], { env: { ...env, ...song } });

/** Waits for a line. */
export const printed = (running: Running, text: string | RegExp): Promise<string> =>
  running.lines.until((line) => (typeof text === "string" ? line.includes(text) : text.test(line)));

/** The process whose command line holds the text. */
export const pidOf = (here: Place, part: string): number =>
  Number(
    here
      .processes()
      .find((line) => line.includes(part))
      ?.split(" ")[0],
  );

/** After an end that was not in order somebody else cleans up, which takes a moment. */
export async function expectNothingLeft(here: Place): Promise<void> {
  await expect.poll(here.processes, patience).toEqual([]);
  await expect.poll(here.runs, patience).toEqual([]);
}
