/** `denrei dev`: restarts replicas that exit, and keeps the old code if the new code exits while it starts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type TestFolder, testFolder } from "../cli/program.ts";
import { project, startDevThere } from "./project.ts";
import { source } from "./stonecode.ts";
import { firstMark, put, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";
const pollOptions = { timeout: 60_000, interval: 50 };

/** The suffix of replica names, which makes them unique on a shared bus. */
const suffixIn = (here: TestFolder): string => (here.runs()[0] ?? "").replace(/^denrei/, "");

/** Kills the only process of a role. */
async function killOnly(here: TestFolder, role: "worker" | "bridge"): Promise<void> {
  const found = () => here.processes().filter((line) => line.includes(`/replica.ts ${role} all`));
  await expect.poll(found, pollOptions).toHaveLength(1);
  process.kill(Number.parseInt(found()[0] ?? "", 10), "SIGKILL");
}

test("restarts a killed worker or bridge with the saved code", async () => {
  const here = testFolder();
  const mine = project(here);
  const { client, printed, running } = await startDevThere(mine);
  const suffix = suffixIn(here);
  for (const [role, name] of [
    ["worker", `worker-1-code-1${suffix}`],
    ["bridge", `bridge-1${suffix}`],
  ] as const) {
    await killOnly(here, role);
    await printed(new RegExp(` ${name} was ended by SIGKILL; restarting it$`));
    await put(client, role);
    expect(await firstMark(client, role)).toBe("1");
    await printed(`${name} is running again`);
  }

  const broken = source({ mark: "2", reconcile: "const x = ;" });
  mine.save(pebble, broken);
  await printed("Code 1 keeps running.");
  await killOnly(here, "worker");
  await printed(`worker-1-code-1${suffix} was ended by SIGKILL; restarting it, with the saved code`);
  const line = broken.split("\n").indexOf("    const x = ;") + 1;
  const where = `functions/stones/pebble.ts:${line}`;
  await printed(`worker-1-code-1${suffix} does not start: ${where}. Retrying until the saved code starts.`);
  mine.save(pebble, source({ mark: "3" }));
  await printed("Code 2 runs");
  for (const name of ["worker", "bridge"]) await untilMarked(client, name, "3");

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("keeps the old code when a worker of the new code exits while others still start", async () => {
  const here = testFolder();
  const mine = project(here);
  const { client, printed, running } = await startDevThere(mine, ["--workers", "2"]);
  const suffix = suffixIn(here);
  const [pidPath, goPath] = [join(here.folder, "pid"), join(here.folder, "go")];
  const waits = `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const replica = process.env.DENREI_REPLICA ?? "";
if (replica === "worker-1-code-2${suffix}") writeFileSync(${JSON.stringify(pidPath)}, String(process.pid));
if (replica === "worker-2-code-2${suffix}") while (!existsSync(${JSON.stringify(goPath)})) await sleep(20);
`;
  mine.save(pebble, waits + source({ mark: "2" }));
  const log = join(here.folder, here.runs()[0] ?? "", `logs/worker-1-code-2${suffix}.log`);
  const logged = () => readIfPresent(log);
  await expect.poll(logged, pollOptions).toContain('"msg":"worker ready"');
  const pid = Number(readFileSync(pidPath, "utf8"));
  process.kill(pid, "SIGKILL");
  await expect.poll(() => exists(pid), pollOptions).toBe(false);
  writeFileSync(goPath, "");
  await printed("The new code does not start. Code 1 keeps running.");
  await printed(`worker-1-code-2${suffix} exited right after its start`);
  await put(client, "first");
  expect(await firstMark(client, "first")).toBe("1");

  mine.save(pebble, source({ mark: "3" }));
  await printed("Code 2 runs");
  await untilMarked(client, "first", "3");
  expect(running.lines.all.filter((line) => /restarting it|is running again/.test(line))).toEqual([]);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Whether the process exists; true until its parent has reaped it. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
