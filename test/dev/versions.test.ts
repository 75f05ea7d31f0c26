/** `denrei dev`: the worker converts objects between the versions of the running code. */
import { expect, test } from "vitest";
import { testFolder } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { source, stoneKind } from "./stonecode.ts";
import { firstMark, put, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";

/** The source with a second version, in which the field `ticks` has another name. */
const withVersions = (mark: string, oldName: string): string =>
  source({ mark })
    .replace('version: "v1"', 'storage: "v1"')
    .replace("  spec: z.object", "  versions: { v1: { spec: z.object")
    .replace(
      /( {2}status: .*),\n\}\);/,
      `$1 }, v1beta1: {
    spec: z.object({ ${oldName}: z.int().optional() }),
    upgrade: ({ spec }) => ({ spec: { ticks: spec.${oldName} } }),
    downgrade: ({ spec }) => ({ spec: { ${oldName}: spec.ticks } }),
  } } });`,
    );

test("converts objects that existed before the code had a second version, and follows its changes", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(pebble, source());
  const { client, printed, running } = await startDev(mine, []);
  await put(client, "first", { spec: { ticks: 1 } });
  expect(await firstMark(client, "first")).toBe("1");

  mine.save(pebble, withVersions("2", "beats"));
  await printed("Code 2 runs");
  await untilMarked(client, "first", "2");
  const beta = { ...stoneKind("Pebble"), version: "v1beta1" };
  const read = async () => (await client.get(beta, { namespace: "default", name: "first" })).spec;
  expect(await read()).toEqual({ beats: 1 });

  mine.save(pebble, withVersions("3", "taps"));
  await printed("Code 3 runs");
  await expect.poll(read).toEqual({ taps: 1 });

  mine.save(pebble, "throw new Error('no code');");
  await printed("Code 3 keeps running.");
  expect(await read()).toEqual({ taps: 1 });

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
});
