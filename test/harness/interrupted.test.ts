/** A run of tests that does not come to its end: nothing of it goes on, and no folder stays. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { place, root, start } from "../cli/program.ts";

const vitest = join(root, "node_modules/vitest/vitest.mjs");
const patience = { timeout: 60_000, interval: 50 };
const pidOf = (line: string): number => Number(line.split(" ")[0]);

test.for([
  ["SIGINT", "Ctrl-C reaches all of its processes"],
  ["SIGKILL", "the first one is killed"],
] as const)("%s: %s", async ([signal]) => {
  const here = place();
  const run = start(["run", "--project", "integration", "test/cli/webhooks.test.ts"], {
    command: [process.execPath, vitest],
    env: here.env,
  });
  const servers = () => here.processes().filter((line) => line.includes("nats-server"));
  await expect.poll(servers, patience).not.toEqual([]);
  const reached =
    signal === "SIGINT"
      ? here.processes().filter((line) => line.includes("/vitest/"))
      : [`${run.process.pid}`];
  expect(reached.length).toBeGreaterThan(0);
  for (const one of reached) process.kill(pidOf(one), signal);
  expect(await run.ended).not.toMatchObject({ code: 0 });
  await expect.poll(here.processes, patience).toEqual([]);
  await expect.poll(here.runs, patience).toEqual([]);
});
