/** An interrupted test run leaves no process and no file. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, start, testFolder } from "../cli/program.ts";
// Installs the browser outside the test's time limit.
import "./chromium.ts";
import { platformPrograms, programs } from "./programs.ts";

await programs(...platformPrograms);

const vitest = join(root, "node_modules/vitest/vitest.mjs");
const config = join(root, "test/fixtures/interrupted/vitest.config.ts");
const polling = { timeout: 60_000, interval: 50 };
const pidOf = (line: string): number => Number(line.split(" ")[0]);

test.for([
  ["SIGINT", "leaves nothing after Ctrl-C, which reaches all processes"],
  ["SIGKILL", "leaves nothing after the first process is killed"],
] as const)("%s: %s", async ([signal]) => {
  const here = testFolder();
  const run = start(["run", "--config", config], { command: [process.execPath, vitest], env: here.env });
  await run.lines.until((line) => line.includes("everything is started"), 200_000);
  const started = here.processes();
  for (const name of ["nats-server", "chrom", "start/host.ts"]) expect(started.join("\n")).toContain(name);
  const reached =
    signal === "SIGINT" ? started.filter((line) => line.includes("/vitest/")) : [`${run.process.pid}`];
  expect(reached.length).toBeGreaterThan(0);
  for (const one of reached) send(pidOf(one), signal);
  expect(await run.ended).not.toMatchObject({ code: 0 });
  await expect.poll(here.processes, polling).toEqual([]);
  await expect.poll(() => readdirSync(here.folder), polling).toEqual([]);
});

/** Some processes may have ended already, because the first one received the signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
