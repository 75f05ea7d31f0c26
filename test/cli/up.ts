/** Starts `denrei up` and reads its output. */
import { expect } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { type Running, start, type TestFolder } from "./program.ts";
import { song } from "./song.ts";

await programs(...platformPrograms);

/** Enough for processes to exit after an error. */
export const polling = { timeout: 30_000, interval: 100 };

/** Starts `denrei up` with a short song. */
export const up = ({ env }: TestFolder, workers = 1, flags: readonly string[] = []): Running =>
  start(["up", "--workers", String(workers), ...flags], {
    env: { ...env, ...song },
  });

/** Address and users of the dashboard, from the printed guide. */
export async function guided(running: Running) {
  const url = /(http:\S+)$/.exec(await printed(running, "The dashboard is at "))?.[1] ?? "";
  const person = async (name: string) => {
    const line = await printed(running, `Log in as ${name}, `);
    return { name, password: /: (\S+)$/.exec(line)?.[1] ?? "" };
  };
  return { url, alice: await person("alice"), bob: await person("bob") };
}

/** A start takes seconds, or a minute on a busy machine. */
const printedMillis = 120_000;

/** Waits for a line. */
export const printed = (running: Running, text: string | RegExp): Promise<string> =>
  running.lines.until(
    (line) => (typeof text === "string" ? line.includes(text) : text.test(line)),
    printedMillis,
  );

/** The process whose command line contains the text. */
export const pidOf = (here: TestFolder, part: string): number =>
  Number(
    here
      .processes()
      .find((line) => line.includes(part))
      ?.split(" ")[0],
  );

/** After a disorderly exit, the reaper cleans up, which takes a moment. */
export async function expectNothingLeft(here: TestFolder): Promise<void> {
  await expect.poll(here.processes, polling).toEqual([]);
  await expect.poll(here.runs, polling).toEqual([]);
}
