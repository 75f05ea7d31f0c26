/** `denrei demo paas`: pull requests become previews before one's eyes, and nothing is left. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { place, run } from "./program.ts";

await programs(...platformPrograms);

const args = ["demo", "paas"];

const sha = "[0-9a-f]{40}";
const image = `registry\\.example\\.com/acme/web@sha256:[0-9a-f]{64}`;
const named = (number: number) => `modoki-pipeline-web-pr-${number}`;

/** What was told, without its time, by whom. */
const told = (stdout: string): { readonly by: string; readonly what: string }[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(\S*) +(.*)$/gm)].map(([, by = "", what = ""]) => ({ by, what }));

/** Names in the first column of a table, the last time that it is shown. */
const names = (stdout: string, kind: string): string[] =>
  (stdout.split(`\n$ kubectl get ${kind} -n denrei-demo\n`).at(-1)?.split("\n\n")[0] ?? "")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((row) => row.split(/ {2,}/)[0] ?? "");

test("two previews, a commit, one that is closed, each step with the replica that did it", async () => {
  const here = place();
  const { code, signal, stdout, stderr } = await run(args, { env: here.env });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  const steps = told(stdout);
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
  // In the end there is one of each.
  for (const kind of ["applications.modoki.tsuzu.dev", "remotesyncs.modoki.tsuzu.dev", "deployments.apps"])
    expect(names(stdout, kind)).toEqual([named(1)]);
  expect(names(stdout, "images.kpack.io")).toEqual([`modoki-${named(1)}`]);
  expect(stdout).toMatch(/The comment on #2 now:\n(.*\n)*? {4}\*\*Preview `web`\*\* was deleted/);
  expect(stdout + stderr).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
