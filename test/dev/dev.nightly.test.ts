/** `denrei dev` (npm run dev): many saves, and two instances at the same time. */
import { expect, test } from "vitest";
import { testFolder } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { saveAgainAndAgain } from "./saving.ts";
import { stoneKind } from "./stonecode.ts";
import { firstMark, put } from "./stones.ts";

test("loses no request during many saves, and is isolated from a second instance", async () => {
  const here = testFolder();
  const mine = project(here);
  const { client, printed, running } = await startDev(mine, ["pebble"]);
  const last = await saveAgainAndAgain({ client, printed, running }, mine, 20);

  const other = await startDev(mine, ["pebble"]);
  expect((await other.client.list(stoneKind("Pebble"))).items).toEqual([]);
  await put(other.client, "elsewhere");
  expect(await firstMark(other.client, "elsewhere")).toBe(last);
  for (const { process } of [running, other.running]) process.kill("SIGINT");
  await Promise.all([running.ended, other.running.ended]);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
