/** `denrei dev` (npm run dev) with many saves, and two of them side by side. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { place } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { source, stoneKind } from "./stonecode.ts";
import { firstMark, put, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";
const saves = 20;

test("nothing is lost while code is saved again and again; another dev beside it has a world of its own", async () => {
  const here = place();
  const mine = project(here);
  const { client, printed, running } = await startDev(mine, ["pebble"]);
  let stones = 0;
  const saving = new AbortController();
  const stream = (async () => {
    for (; !saving.signal.aborted; stones++) {
      await put(client, `stone-${stones}`);
      await sleep(100);
    }
  })();
  for (let code = 2; code <= saves + 1; code++) {
    const before = stones;
    mine.save(pebble, source({ mark: String(code) }));
    // Most are saved before the code before has begun.
    if (code % 5 === 0) await printed(/Code \d+ runs/);
    else await expect.poll(() => stones, { timeout: 30_000, interval: 10 }).toBeGreaterThan(before);
  }
  const last = String(saves + 1);
  await untilMarked(client, "stone-0", last);
  saving.abort();
  await stream;
  const unmarked = async () =>
    (await client.list(stoneKind("Pebble"))).items.filter(({ status }) => status?.mark !== last);
  await expect.poll(unmarked, { timeout: 60_000, interval: 200 }).toEqual([]);
  expect((await client.list(stoneKind("Pebble"))).items).toHaveLength(stones);
  expect(stones).toBeGreaterThan(saves / 2);
  expect(
    running.lines.all.filter((line) => /failed|dead letter|does not start|was ended/.test(line)),
  ).toEqual([]);

  const other = await startDev(mine, ["pebble"]);
  expect((await other.client.list(stoneKind("Pebble"))).items).toEqual([]);
  await put(other.client, "elsewhere");
  expect(await firstMark(other.client, "elsewhere")).toBe(last);
  for (const { process } of [running, other.running]) process.kill("SIGINT");
  await Promise.all([running.ended, other.running.ended]);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
}, 240_000);
