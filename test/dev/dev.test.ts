/** `denrei dev` (npm run dev): reloads saved code without losing requests. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../cli/program.ts";
import { project, startDev, startDevThere } from "./project.ts";
import { saveAgainAndAgain } from "./saving.ts";
import { source } from "./stonecode.ts";
import { firstMark, put, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";

test("new code reconciles new and existing objects; broken code does not replace running code", async () => {
  const here = testFolder();
  const { save, saveConfig, ...rest } = project(here);
  const { client, printed, running } = await startDev({ save, saveConfig, ...rest }, []);
  await put(client, "first");
  expect(await firstMark(client, "first")).toBe("1");
  await printed(/ pebble default\/first {2}done \d+(\.\d)? m?s, 1 write/);

  // Output of the code is printed, even if it looks like a log record.
  const prints =
    'console.log("look:", stone.metadata.name); console.error(JSON.stringify({ msg: "again" }));';
  save(pebble, `${source({ mark: "2", reconcile: prints })}console.log("it is", "loaded");\n`);
  await printed("saved functions/stones/pebble.ts");
  await printed(/^\S+ worker-1-code-2 {2}it is loaded$/);
  await printed(/ Code 2 runs, \S+ m?s after the save/);
  await put(client, "second");
  await printed(/^\S+ worker-1-code-2 {2}look: second$/);
  await running.lines.until((line) => /^\S+ worker-1-code-2 {2}\{"msg":"again"\}$/.test(line));
  expect(await firstMark(client, "second")).toBe("2");
  await untilMarked(client, "first", "2");

  save(pebble, source({ mark: "broken", reconcile: "const x = ;" }));
  const line = source({ reconcile: "const x = ;" }).split("\n").indexOf("    const x = ;") + 1;
  await printed(`The new code does not start: functions/stones/pebble.ts:${line}. Code 2 keeps running.`);
  await printed("SyntaxError");
  save(pebble, `${source({ mark: "broken" })}\nthrow new Error("while it is imported");\n`);
  await printed(/The new code does not start: functions\/stones\/pebble\.ts:\d+\. Code 2 keeps running\./);
  await printed("Error: while it is imported");
  await put(client, "third");
  expect(await firstMark(client, "third")).toBe("2");

  // An error is printed with its location, and newly saved code retries at once.
  save(pebble, source({ mark: "3", reconcile: 'if (times > 0) throw new Error("not today");' }));
  await printed("Code 3 runs");
  await printed(/ pebble default\/\S+ {2}failed after \S+ m?s, again in/);
  await printed("Error: not today");
  await printed(/at functions\/stones\/pebble\.ts:\d+ {3}if \(times > 0\) throw/);
  save(pebble, source({ mark: "4", spec: "colour: z.string().optional()," }));
  await printed("Code 4 runs");
  await printed("For other clusters: npx denrei crds");
  for (const name of ["first", "second", "third"]) await untilMarked(client, name, "4");
  expect((await put(client, "fourth", { spec: { colour: "red" } })).spec).toEqual({ colour: "red" });

  // A missing permission shows at once, and the role follows the declaration.
  const lists = `const { externalKind } = await import("denrei");
    await ctx.live.list(externalKind({ group: "batch", version: "v1", kind: "Job", plural: "jobs" }));`;
  const declares = 'permissions: [{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] }],';
  save(pebble, source({ mark: "5", reconcile: lists }));
  await printed(`Add to the function pebble: ${declares.slice(0, -1)}.`);
  // The new worker may reconcile before it has replaced the old one.
  await running.lines.until((line) => line.includes("Code 5 runs"));
  save(pebble, source({ mark: "6", reconcile: lists, declares }));
  await printed("Code 6 runs");
  for (const name of ["first", "fourth"]) await untilMarked(client, name, "6");

  symlinkSync("circle.ts", join(rest.folder, "functions/circle.ts"));
  await printed("Some saves are no longer detected: ELOOP");
  await printed("Fix this and restart denrei dev.");

  // Another function with its own kind.
  save("stones/rock.ts", source({ kind: "Rock", mark: "rock" }));
  saveConfig({ pebble, rock: "stones/rock.ts" });
  await printed("Code 7 runs");
  await put(client, "fifth", { kind: "Rock" });
  expect(await firstMark(client, "fifth", "Rock")).toBe("rock");

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("loses no request during repeated saves", async () => {
  const here = testFolder();
  const mine = project(here);
  const { client, printed, running } = await startDevThere(mine, ["pebble"]);
  await saveAgainAndAgain({ client, printed, running }, mine, 7);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
