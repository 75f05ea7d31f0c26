/** `denrei dev`: the CRDs on its API server follow the running code. */
import { expect, test } from "vitest";
import { testFolder } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { source } from "./stonecode.ts";
import { firstMark, put, specFields, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";

test("prints once why the API server rejects a CRD, keeps the old code, and runs the repaired code", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(pebble, source());
  const { printed, running } = await startDev(mine, []);
  const rule = '{ rule: "self.nope > 1", message: "never" }';
  const rejected = `bad: z.string().meta({ "x-kubernetes-validations": [${rule}] }).optional(),`;
  mine.save(pebble, source({ mark: "2", spec: rejected }));
  await printed("The new code does not start. Code 1 keeps running.");
  await printed(
    "denrei: the API server rejects the CRD pebbles.test.denrei.dev. Change the schema of Pebble in defineKind:",
  );
  await printed("spec.bad, x-kubernetes-validations[0].rule: compilation failed: ");
  mine.save(pebble, source({ mark: "3" }));
  await printed("Code 2 runs");
  expect(running.lines.all.filter((line) => line.includes("rejects the CRD"))).toHaveLength(1);
  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
});

test("updates the CRD for a renamed field, a removed field, and a field of code that did not start", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(pebble, source({ spec: "colour: z.string().optional()," }));
  const { client, printed, running } = await startDev(mine, []);
  await put(client, "first", { spec: { colour: "red" } });
  expect(await firstMark(client, "first")).toBe("1");

  mine.save(pebble, source({ mark: "2", spec: "shade: z.string().optional()," }));
  await printed("Code 2 runs");
  await untilMarked(client, "first", "2");
  expect(await specFields(client)).toEqual(["shade", "ticks"]);
  await put(client, "second");

  mine.save(pebble, source({ mark: "3" }));
  await printed("Code 3 runs");
  await untilMarked(client, "second", "3");
  expect(await specFields(client)).toEqual(["ticks"]);

  // A worker reads this after it has installed its CRDs, when it begins to take requests.
  const late = 'Object.defineProperty(pebble, "concurrency", { get() { throw new Error("too late"); } });';
  const begins = source({ mark: "4", spec: "colour: z.string().optional()," });
  mine.save(pebble, `${begins.replace("export default", "const pebble =")}${late}\nexport default pebble;\n`);
  await printed(/The new code does not start: functions\/stones\/pebble\.ts:\d+\. Code 3 keeps running\./);
  await printed("Error: too late");
  expect(await specFields(client)).toEqual(["colour", "ticks"]);

  mine.save(pebble, source({ mark: "5" }));
  await printed("Code 4 runs");
  expect(await specFields(client)).toEqual(["ticks"]);
  await put(client, "third");
  expect(await firstMark(client, "third")).toBe("5");

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
