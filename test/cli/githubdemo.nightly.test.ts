/** `denrei demo github`: every step is told with the replica that did it, and nothing is left. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { optInLabel } from "../../bus/domain.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { type Environment, place, run, start } from "./program.ts";
import { patience, pidOf, printed } from "./up.ts";

const program = "test/demo/github.ts";
const args = ["demo", "github", "--github", program];
/** Two refreshes have to be waited for. */
const longestMillis = 110_000;

/** What is told, line by line; replicas of somebody else's bus have a suffix. */
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
const told = (stdout: string): string[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(.*)$/gm)].map(([, line = ""]) => line);

/** The rows of a table, from its command to the next empty line, in columns. */
const table = (stdout: string, command: string): string[][] =>
  (stdout.split(`\n$ ${command}\n`)[1]?.split("\n\n")[0] ?? "")
    .trimEnd()
    .split("\n")
    .map((row) => row.split(/ {2,}/));

function expectSteps(stdout: string, repository: string, namespace: string): void {
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

/** Neither the token of the App or the user, nor its key. */
function expectNoSecrets({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  expect(stdout + stderr).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
}

test("each step is told with the replica that did it, and nothing is left", async () => {
  const here = place();
  const ended = await run(args, { env: here.env, longestMillis });
  const { code, signal, stdout, stderr } = ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  expect(stdout).toMatch(/^ {2}2 workers, 1 bridge +ready after \d/m);
  expect(stdout).toMatch(/^ {2}2 gateways +ready after \d/m);
  expect(stdout).toMatch(
    /^On http:\/\/127\.0\.0\.1:\d+, which plays GitHub, an App is installed on acme\/web\.$/m,
  );
  expectSteps(stdout, "acme/web", "denrei-demo");
  const columns = told(stdout).map((line) => line.search(/\S+ (the|a|its) /));
  expect(new Set(columns)).toEqual(new Set(["gateway-1   ".length]));
  expectNoSecrets(ended);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("a gateway that dies is started again where it was, and Ctrl-C leaves nothing", async () => {
  const here = place();
  const running = start([...args, "--workers", "1"], { env: here.env });
  await printed(running, "stored on the bus");
  expect(here.processes().filter((line) => line.includes("denrei.js gateway"))).toHaveLength(2);
  process.kill(pidOf(here, "denrei.js gateway"), "SIGKILL");
  await printed(running, /^gateway-[12] was ended by SIGKILL; starting it again\.$/);
  await printed(running, /^gateway-[12] was started again \(pid \d+\)/);
  const urls = /--deliver-to (\S+)/.exec(here.processes().join("\n"))?.[1]?.split(",") ?? [];
  const answers = await Promise.all(urls.map((url) => fetch(url)));
  expect(answers.map(({ status }) => status)).toEqual([405, 405]);
  running.process.kill("SIGINT");
  const ended = await running.ended;
  const { code, signal, stdout, stderr } = ended;
  expect({ code, signal, stderr }).toEqual({ code: 130, signal: null, stderr: "" });
  expect(stdout).toMatch(/\nStopping everything\.\n$/);
  expect(stdout).not.toContain("$ kubectl");
  expectNoSecrets(ended);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("without GitHub there is nothing to be seen", async () => {
  const here = place();
  const running = start([...args, "--workers", "1"], { env: here.env });
  await printed(running, "stored on the bus");
  process.kill(pidOf(here, `${program} --deliver-to`), "SIGKILL");
  const { code, signal, stderr } = await running.ended;
  const says = `denrei: GitHub, played by ${program}, was ended by SIGKILL\n`;
  expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr: says });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

describe("on somebody's own cluster and bus", () => {
  let kit: Kit;
  beforeAll(async () => {
    kit = await startKit();
  });
  afterAll(() => kit?.stop());

  const env = (): Environment => ({
    KUBECONFIG: kit.platform.kubeconfigPath,
    NATS_URL: kit.platform.natsUrl,
  });
  const namespaces = async () => (await kit.client.list(Namespace)).items;

  test("it has a namespace of its own, which it takes away again", async () => {
    const here = place();
    const ended = await run(args, { env: { ...here.env, ...env() }, longestMillis });
    const { code, stdout, stderr } = ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Using the cluster at ${kit.client.connection.server}`);
    const name = /The namespace (\S+) is deleted; the CRDs stay in the cluster\./.exec(stdout)?.[1] ?? "";
    expect(name).toMatch(/^denrei-demo-[a-z0-9]+$/);
    expectSteps(stdout, `${name}/web`, name);
    expectNoSecrets(ended);
    await kit.untilGone(Namespace, { name });
    // Others have not agreed to have their Secrets looked at.
    expect((await namespaces()).filter(({ metadata }) => metadata.labels?.[optInLabel])).toEqual([]);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });

  test("a reader that leaves ends it, and it takes its namespace away, too", async () => {
    const here = place();
    const running = start(args, { env: { ...here.env, ...env() } });
    await printed(running, "got a token");
    const theirs = async () =>
      (await namespaces()).filter(({ metadata }) => /^denrei-demo/.test(metadata.name));
    expect(await theirs()).toHaveLength(1);
    running.process.stdout?.destroy();
    const { code, signal, stderr } = await running.ended;
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
    await expect.poll(theirs, patience).toEqual([]);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });
});
