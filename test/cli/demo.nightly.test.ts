/** `denrei demo` on two local platforms at once, and with an output that closes. */
import { expect, test } from "vitest";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { run, start, testFolder } from "./program.ts";
import { said, song, words } from "./song.ts";

await programs(...platformPrograms);

test("two instances do not affect each other, and leave nothing behind", async () => {
  const both = [testFolder(), testFolder()];
  const ended = await Promise.all(
    both.map(({ env }) => run(["demo", "--workers", "2"], { env: { ...env, ...song } })),
  );
  for (const [at, { code, signal, stdout, stderr }] of ended.entries()) {
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
    expect(said(stdout).map(([word]) => word)).toEqual([...words, "Kiyoshi!"]);
    for (const [, by] of said(stdout)) expect(by).toMatch(/^worker-[12]$/);
    expect(both[at]?.runs()).toEqual([]);
    expect(both[at]?.processes()).toEqual([]);
  }
});

test("ends when the output is closed: denrei demo | head", async () => {
  const here = testFolder();
  const endless = { [wordsVariable]: "Doko" };
  const demo = start(["demo", "--workers", "1"], { env: { ...here.env, ...endless } });
  await demo.lines.until((line) => line.includes("hikawa-sample-zundoko-002"));
  demo.process.stdout?.destroy();
  const { code, signal, stderr } = await demo.ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
