/** `denrei demo` and `denrei up` with an existing cluster and bus (KUBECONFIG and NATS_URL). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { optInLabel } from "../../bus/kube/domain.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { redacted } from "../../bus/values/redact.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { hikawa } from "../harness/song.ts";
import { type Environment, run, start, testFolder } from "./program.ts";
import { said, song, words } from "./song.ts";
import { expectNothingLeft, pidOf, polling, printed } from "./up.ts";

let environment: TestEnvironment;
const env = (): Environment => ({
  ...song,
  KUBECONFIG: environment.platform.kubeconfigPath,
  NATS_URL: environment.platform.natsUrl,
});
const otherSample = { namespace: "default", name: "hikawa-sample" };
beforeAll(async () => {
  environment = await startTestEnvironment();
  // An object of another user.
  await environment.client.create(Hikawa, hikawa(otherSample.name, 86_400_000), { fieldManager: "test" });
});
afterAll(() => environment?.stop());

describe("the demo", () => {
  test("keeps existing objects, and deletes its own", async () => {
    const here = testFolder();
    const { code, stdout, stderr } = await run(["demo", "--workers", "2"], {
      env: { ...here.env, ...env() },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      `Using the cluster at ${environment.client.connection.server} and the bus at ${redacted(environment.platform.natsUrl)}`,
    );
    expect(stdout).not.toContain("kube-apiserver");
    expect(said(stdout).map(([word]) => word)).toEqual([...words, "Kiyoshi!"]);
    const name = /^hikawa-sample-[a-z0-9]+(?= +500 +6 +true)/m.exec(stdout)?.[0];
    expect(stdout).toContain(`The Hikawa ${name} is deleted; the CRDs stay in the cluster.`);
    await environment.untilGone(Hikawa, { namespace: "default", name: name ?? "" });
    expect((await environment.client.get(Hikawa, otherSample)).spec.intervalMillis).toBe(86_400_000);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });

  test.for([
    ["Ctrl-C", 130],
    ["closing its output, as `denrei demo | head` does,", 0],
  ] as const)("%s in the middle of a song ends it and deletes its objects", async ([end, exitCode]) => {
    const here = testFolder();
    const slow = { DENREI_ZUNDOKO_WORDS: "Doko" };
    const demo = start(["demo", "--workers", "1"], { env: { ...here.env, ...env(), ...slow } });
    const line = await printed(demo, /-zundoko-002$/);
    if (end === "Ctrl-C") demo.process.kill("SIGINT");
    else demo.process.stdout?.destroy();
    const { code, signal, stdout, stderr } = await demo.ended;
    expect({ code, signal, stderr }).toEqual({ code: exitCode, signal: null, stderr: "" });
    expect(stdout.includes("Stopping everything.")).toBe(end === "Ctrl-C");
    expect(stdout).not.toContain("$ kubectl");
    const name = /(hikawa-sample-\w+)-zundoko-002/.exec(line)?.[1] ?? "";
    const found = environment.client.get(Hikawa, { namespace: "default", name });
    await expect(found).rejects.toSatisfy(isNotFound);
    for (const kind of [Zundoko, Kiyoshi]) {
      const children = async () =>
        (await environment.list<Zundoko | Kiyoshi>(kind)).filter(({ metadata }) =>
          metadata.name.startsWith(`${name}-`),
        );
      await expect.poll(children, polling).toEqual([]);
    }
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });

  test("github prints each step with its replica; when its simulator exits, it fails and deletes its namespace", async () => {
    const here = testFolder();
    const program = "deploy/simulators/github/main.ts";
    const running = start(["demo", "github"], {
      env: { ...here.env, ...env() },
    });
    await printed(running, "stored on the bus");
    const steps = running.lines.all.map((line) => /^ {2} *[\d.]+ s {3}(.*)$/.exec(line)?.[1]).filter(Boolean);
    const [worker, gateway] = ["worker-[12]-\\w+ +", "gateway-[12]-\\w+ +"];
    // githubdemo.test.ts waits for the token refreshes that follow.
    expect(steps.slice(0, 6)).toEqual(
      [
        "demo +created the Secret app-key and the GitHubApp app",
        `${worker}verified the key: the App denrei is Ready`,
        "demo +created the Installation acme",
        `${worker}got a token: stored in the Secret acme, expires at \\d\\d:\\d\\d:\\d\\dZ`,
        "demo +opened the pull request #1 through the API",
        `${gateway}received its webhook [0-9a-f]{8}: stored on the bus, answered 202`,
      ].map((step) => expect.stringMatching(`^${step}$`)),
    );
    const namespaces = async () => (await environment.client.list(Namespace)).items;
    const ours = async () =>
      (await namespaces()).filter(({ metadata }) => /^denrei-demo-[a-z0-9]+$/.test(metadata.name));
    expect(await ours()).toHaveLength(1);
    process.kill(pidOf(here, `${program} --deliver-to`), "SIGKILL");
    const { code, signal, stdout, stderr } = await running.ended;
    const says = "denrei: the GitHub simulator was ended by SIGKILL\n";
    expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr: says });
    // No token and no private key.
    expect(stdout).not.toMatch(/gh[a-z]_|PRIVATE KEY/);
    await expect.poll(ours, polling).toEqual([]);
    // No other namespace is opted in.
    expect((await namespaces()).filter(({ metadata }) => metadata.labels?.[optInLabel])).toEqual([]);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });
});

test("up prints how to get a dashboard, and a second Ctrl-C does not wait for a worker that hangs", async () => {
  const here = testFolder();
  const running = start(["up", "--workers", "1"], { env: { ...here.env, ...env() } });
  expect(await printed(running, "No dashboard: ")).toBe(
    "No dashboard: set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID to an issuer that your API server trusts (docs/dashboard.md).",
  );
  expect(here.processes().filter((line) => line.includes("denrei.js dashboard"))).toEqual([]);
  process.kill(pidOf(here, "denrei.js worker"), "SIGSTOP");
  // Signals right after the first one count as the same request, because npm forwards what the terminal has already sent.
  const interrupts = setInterval(() => running.process.kill("SIGINT"), 50);
  const ended = await running.ended.finally(() => clearInterval(interrupts));
  expect(ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(ended.stdout).toMatch(/\nStopping everything\.\n(.*\n)*Exiting now[^\n]*\n$/);
  await expectNothingLeft(here);
});
