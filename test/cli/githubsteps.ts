/** What `denrei demo github` prints. */
import { expect } from "vitest";

/** The program of the GitHub simulator. */
export const program = "deploy/simulators/github/main.ts";
/** The command line. */
export const args = ["demo", "github"];

/** The printed lines. Replicas on an existing bus have a suffix. */
const worker = String.raw`worker-[12](-\w+)? +`;
const gateway = String.raw`gateway-[12](-\w+)? +`;
const clock = String.raw`\d\d:\d\d:\d\dZ`;
const steps: readonly string[] = [
  "demo +created the Secret app-key and the GitHubApp app",
  `${worker}tried the key: the App is Ready, known as denrei`,
  "demo +created the Installation acme",
  `${worker}got a token: it is in the Secret acme until ${clock}`,
  "demo +opened the pull request #1 through the API",
  `${gateway}took its webhook [0-9a-f]{8}: stored on the bus, answered 202`,
  `${worker}refreshed the token: ends ${clock}, the old one ${clock}`,
  `${worker}refreshed the token: ends ${clock}, the old one ${clock}`,
];

/** The lines of steps, without their times. */
export const told = (stdout: string): string[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(.*)$/gm)].map(([, line = ""]) => line);

/** The rows of a table, from its command to the next empty line, in columns. */
const table = (stdout: string, command: string): string[][] =>
  (stdout.split(`\n$ ${command}\n`)[1]?.split("\n\n")[0] ?? "")
    .trimEnd()
    .split("\n")
    .map((row) => row.split(/ {2,}/));

/** Expects all steps of a demo that went on to its end, and what it shows then. */
export function expectSteps(stdout: string, repository: string, namespace: string): void {
  const lines = told(stdout);
  expect(lines).toEqual(steps.map((step) => expect.stringMatching(`^${step}$`)));
  // When the first token ends, and of each refresh when the new one does and when the old one did.
  const [issued = [], ...refreshed] = lines
    .map((line) => line.match(new RegExp(clock, "g")) ?? [])
    .filter(([at]) => at);
  const ends = [issued[0], ...refreshed.map(([now]) => now)];
  expect(new Set(ends).size).toBe(3);
  expect(refreshed.map(([, before]) => before)).toEqual(ends.slice(0, 2));

  expect(table(stdout, `kubectl get installations -n ${namespace}`)).toEqual([
    ["NAME", "READY", "SECRET", "EXPIRES", "AGE"],
    ["acme", "True", "acme", expect.stringMatching(`T${ends[2]}$`), expect.stringMatching(/^\d+s$/)],
  ]);
  const delivery = /its webhook (\w+)/.exec(stdout)?.[1] ?? "";
  expect(table(stdout, `npx denrei webhooks list --repository ${repository}`)).toContainEqual([
    expect.stringMatching(`^${delivery}-`),
    "pull_request.opened",
    repository,
    "1",
    expect.stringMatching(/^\d+s$/),
  ]);
}

/** Expects neither the token of the App or the user, nor its key in what was printed. */
export function expectNoSecrets({
  stdout,
  stderr,
}: {
  readonly stdout: string;
  readonly stderr: string;
}): void {
  expect(stdout + stderr).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
}
