/** `denrei demo github` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { args, expectNoSecrets, expectSteps, stepLines } from "./githubsteps.ts";
import { run, testFolder } from "./program.ts";

await programs(...platformPrograms);

test("prints each step with the replica that did it, and leaves nothing behind", async () => {
  const here = testFolder();
  const ended = await run(args, { env: here.env });
  const { code, signal, stdout, stderr } = ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(stdout).toMatch(/^ {2}2 workers, 1 bridge +ready after \d/m);
  expect(stdout).toMatch(/^ {2}2 gateways +ready after \d/m);
  expect(stdout).toMatch(
    /^On the simulated GitHub at http:\/\/127\.0\.0\.1:\d+, an App is installed on acme\/web\.$/m,
  );
  expectSteps(stdout, "acme/web", "denrei-demo");
  const columns = stepLines(stdout).map((line) => line.search(/\S+ (the|a|its) /));
  expect(new Set(columns)).toEqual(new Set(["gateway-1   ".length]));
  expectNoSecrets(ended);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
