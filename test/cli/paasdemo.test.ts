/** `denrei demo paas` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { run, testFolder } from "./program.ts";

await programs(...platformPrograms);

const args = ["demo", "paas"];

const sha = "[0-9a-f]{40}";
const image = `registry\\.example\\.com/acme/web@sha256:[0-9a-f]{64}`;
const named = (number: number) => `modoki-pipeline-web-pr-${number}`;

/** The steps: who did what. */
const stepsIn = (stdout: string): { readonly by: string; readonly what: string }[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(\S*) +(.*)$/gm)].map(([, by = "", what = ""]) => ({ by, what }));

/** The first column of a table in its last occurrence. */
const names = (stdout: string, kind: string): string[] =>
  (stdout.split(`\n$ kubectl get ${kind} -n denrei-demo\n`).at(-1)?.split("\n\n")[0] ?? "")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((row) => row.split(/ {2,}/)[0] ?? "");

test("prints previews, a new commit, and a closed pull request, each step with its replica", async () => {
  const here = testFolder();
  const { code, signal, stdout, stderr } = await run(args, { env: here.env });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  const steps = stepsIn(stdout);
  const of = (by: RegExp, what: string) =>
    steps.filter((step) => by.test(step.by) && new RegExp(`^${what}$`).test(step.what)).length;
  for (const number of [1, 2]) {
    expect(of(/^worker-[123]$/, `created ${named(number)} for #${number}`)).toBe(1);
    expect(of(/^worker-[123]$/, `#${number} is at ${sha}`)).toBe(number === 1 ? 2 : 1);
    expect(of(/^worker-[123]$/, `set the image of Application ${named(number)} to ${image}`)).toBe(
      number === 1 ? 2 : 1,
    );
  }
  expect(of(/^demo$/, "pushed [0-9a-f]{12} to #1")).toBe(1);
  expect(of(/^demo$/, "closed #2")).toBe(1);
  expect(of(/^worker-[123]$/, `deleted ${named(2)} of #2`)).toBe(1);
  expect(stdout).toMatch(
    /The comment on #1:\n(.*\n)*? {4}\| State \| Ready \|\n {4}\| URL \| https:\/\/pr-1-web-/,
  );
  expect(stdout).toMatch(
    /^Statuses of [0-9a-f]{12}: denrei\/default-[0-9a-f]{8}\/denrei-demo\/web: success$/m,
  );
  // Only one preview is left.
  for (const kind of ["applications.modoki.tsuzu.dev", "remotesyncs.modoki.tsuzu.dev", "deployments.apps"])
    expect(names(stdout, kind)).toEqual([named(1)]);
  expect(names(stdout, "images.kpack.io")).toEqual([`modoki-${named(1)}`]);
  expect(stdout).toMatch(/The comment on #2 now:\n(.*\n)*? {4}\*\*Preview `web`\*\* was deleted/);
  expect(stdout + stderr).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
