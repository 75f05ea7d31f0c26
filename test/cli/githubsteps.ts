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
  `${worker}verified the key: the App denrei is Ready`,
  "demo +created the Installation acme",
  `${worker}got a token: stored in the Secret acme, expires at ${clock}`,
  "demo +opened the pull request #1 through the API",
  `${gateway}received its webhook [0-9a-f]{8}: stored on the bus, answered 202`,
  `${worker}refreshed the token: expires at ${clock}, the old one at ${clock}`,
  `${worker}refreshed the token: expires at ${clock}, the old one at ${clock}`,
];

/** The lines of steps, without their times. */
export const stepLines = (stdout: string): string[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(.*)$/gm)].map(([, line = ""]) => line);

/** The rows of a table, from its command to the next empty line, in columns. */
const table = (stdout: string, command: string): string[][] =>
  (stdout.split(`\n$ ${command}\n`)[1]?.split("\n\n")[0] ?? "")
    .trimEnd()
    .split("\n")
    .map((row) => row.split(/ {2,}/));

/** Expects all steps of a complete demo, and the objects at its end. */
export function expectSteps(stdout: string, repository: string, namespace: string): void {
  const lines = stepLines(stdout);
  expect(lines).toEqual(steps.map((step) => expect.stringMatching(`^${step}$`)));
  // Expiry of the first token; for each refresh, expiry of the new and the old token.
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

/** Expects no token and no private key in the output. */
export function expectNoSecrets({
  stdout,
  stderr,
}: {
  readonly stdout: string;
  readonly stderr: string;
}): void {
  expect(stdout + stderr).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
}
