import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const modules = {
  idle: new URL("./idlememory.ts", import.meta.url).href,
  beats: new URL("../values/eventloop.ts", import.meta.url).href,
};

/** Runs a program that prints the name of its phase with each collection, and how it changed the memory. */
async function collections(program: string, environment = "production"): Promise<string[]> {
  const source = `
import { returnIdleMemory } from ${JSON.stringify(modules.idle)};
import { onBeat } from ${JSON.stringify(modules.beats)};
await new Promise(setImmediate);
let phase = "started";
// Beats do not keep a process alive.
setInterval(() => {}, 1000);
/** Resolves after a number of checks. */
const checks = (count, work = () => {}) =>
  new Promise((resolve) => {
    let left = count;
    const end = onBeat(() => { work(); if (--left === 0) { end(); resolve(); } });
  });
const onReturned = ({ before, after }) => console.log(phase, before - after > 2e7 ? "less" : "same");
const stop = returnIdleMemory(onReturned, { checkBeats: 1, share: 1 });
const load = () => Array.from({ length: 1e6 }, (_, at) => ({ at }));
const busy = () => { const until = performance.now() + 200; while (performance.now() < until); };
${program}
process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source], {
    env: { ...process.env, NODE_ENV: environment },
  });
  return stdout.trim().split("\n");
}

test("returns the memory of a load once the process is idle, and once only", async () => {
  expect(
    await collections(
      'await checks(2); busy(); let kept = load(); phase = "loaded"; await checks(1, busy); kept = undefined; phase = "idle"; await checks(6);',
    ),
  ).toEqual(["started same", "idle less"]);
});

test("does not block a process that is busy", async () => {
  expect(await collections('busy(); await checks(4, busy); console.log("end");')).toEqual(["end"]);
});

test("does nothing after it was stopped, or outside production", async () => {
  expect(await collections('stop(); await checks(2); console.log("end");')).toEqual(["end"]);
  expect(await collections('await checks(2); console.log("end");', "development")).toEqual(["end"]);
});
