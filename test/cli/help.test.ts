/** Help and usage errors of a real process. commandline.test.ts tests the rest without processes. */
import { describe, expect, test } from "vitest";
import { run, start } from "./program.ts";

test("prints help to standard output", async () => {
  const { code, stdout, stderr } = await run(["status", "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: denrei status/);
});

/** A command line, variables, and the whole message. */
const mistakes = [
  {
    args: "worke hikawa",
    env: {},
    says: "denrei: unknown command 'worke'\n(Did you mean worker?)\n(For help, run denrei --help or denrei <command> --help)",
  },
  {
    args: "status",
    env: { DENREI_ZUNDOKO_WORDS: "Zun,Bam" },
    says: 'denrei: expected DENREI_ZUNDOKO_WORDS to be a comma-separated list of Zun and Doko, found "Zun,Bam"',
  },
  {
    args: "demo",
    env: { DENREI_CLUSTER: "Big" },
    says: 'denrei: DENREI_CLUSTER: expected lower-case letters, digits and dashes, at most 63, found "Big"',
  },
];

describe.concurrent("a usage error is printed without a stack, with exit code 2", () => {
  test.for(mistakes)("$args $env", async ({ args, env, says }) => {
    const { code, stdout, stderr } = await run(args.split(" "), { env });
    expect(stderr.trimEnd()).toEqual(says);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

test("exits with 0 when the reader closes the pipe early: denrei crds | head -1", async () => {
  const command = start(["crds"]);
  command.process.stdout?.destroy();
  const { code, signal, stderr } = await command.ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
});
