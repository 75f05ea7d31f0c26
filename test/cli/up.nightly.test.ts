/** `denrei up` without a dashboard, and disorderly exits: `kill -9` and a second Ctrl-C. */
import { expect, test } from "vitest";
import { testFolder } from "./program.ts";
import { expectNothingLeft, pidOf, polling, printed, up } from "./up.ts";

test("Ctrl-C right after the start leaves nothing behind", async () => {
  const here = testFolder();
  const running = up(here);
  await printed(running, "1 worker, 1 bridge");
  running.process.kill("SIGINT");
  const { code, signal, stdout, stderr } = await running.ended;
  expect({ code, signal, stderr }).toEqual({ code: 130, signal: null, stderr: "" });
  expect(stdout).toMatch(/\nStopping everything\.\n$/);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("kill -9 leaves nothing behind, and does not affect a second instance", async () => {
  const here = testFolder();
  const first = up(here);
  await printed(first, "The Hikawa hikawa-sample sings on 1 replica.");
  first.process.kill("SIGKILL");
  await first.ended;
  const second = up(here);
  await printed(second, "hikawa-sample: Kiyoshi!");
  // Only the folder of the second instance remains.
  await expect.poll(here.runs, polling).toHaveLength(1);
  expect(here.processes().filter((line) => line.includes("denrei.js worker"))).toHaveLength(1);
  second.process.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 143, signal: null, stderr: "" });
  await expectNothingLeft(here);
});

test("a second Ctrl-C does not wait for a process that hangs", async () => {
  const here = testFolder();
  const running = up(here);
  await printed(running, "The Hikawa hikawa-sample sings on 1 replica.");
  process.kill(pidOf(here, "denrei.js worker"), "SIGSTOP");
  // Signals right after the first one count as the same request, because npm forwards what the terminal has already sent.
  const interrupts = setInterval(() => running.process.kill("SIGINT"), 50);
  const ended = await running.ended.finally(() => clearInterval(interrupts));
  expect(ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(ended.stdout).toMatch(/\nStopping everything\.\nExiting now[^\n]*\n$/);
  await expectNothingLeft(here);
});

test("--no-dashboard starts neither a dashboard nor a login", async () => {
  const here = testFolder();
  const running = up(here, 1, ["--no-dashboard"]);
  await printed(running, "The Hikawa hikawa-sample sings on 1 replica.");
  expect(running.lines.all.filter((line) => /dashboard/i.test(line))).toEqual([]);
  const started = here.processes();
  expect(started.filter((line) => /denrei\.js dashboard|simulators\/login/.test(line))).toEqual([]);
  running.process.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
});
