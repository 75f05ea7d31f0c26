/** An interrupted run and a failed start leave nothing behind. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { start, testFolder } from "../cli/program.ts";
import { platformPrograms, programs } from "../harness/programs.ts";

await programs(...platformPrograms);

const program = fileURLToPath(new URL("../fixtures/ketrun.ts", import.meta.url));
const command = [process.execPath, program] as const;
const polling = { timeout: 60_000 };

test("Ctrl-C leaves no process and no folder", async () => {
  const { env, runs, processes } = testFolder();
  const run = start([], { command: [...command], env });
  await run.lines.until((line) => line.startsWith("ready in ket-"), 100_000);
  expect(runs()).toHaveLength(1);
  expect(processes().length).toBeGreaterThan(4);
  run.process.kill("SIGINT");
  expect((await run.ended).signal).toBe("SIGINT");
  expect(runs()).toEqual([]);
  expect(processes()).toEqual([]);
});

test("a failed start reports why, and leaves nothing", async () => {
  const { env, runs, processes } = testFolder();
  const run = start([], {
    command: [...command],
    env: { ...env, KETRUN_ACK_WAIT: "1" },
  });
  const { code, stderr } = await run.ended;
  expect(stderr).toContain("DENREI_ACK_WAIT_SECONDS: expected a whole number from 3 to 600");
  expect(code).toBe(1);
  expect(runs()).toEqual([]);
  await expect.poll(processes, polling).toEqual([]);
});
