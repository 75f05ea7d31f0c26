/** `denrei demo github` when a process exits, and in an existing cluster. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { optInLabel } from "../../bus/kube/domain.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { args, expectNoSecrets, expectSteps, program } from "./githubsteps.ts";
import { type Environment, run, start, testFolder } from "./program.ts";
import { pidOf, polling, printed } from "./up.ts";

test("restarts a gateway at the same address, and leaves nothing behind after Ctrl-C", async () => {
  const here = testFolder();
  const running = start([...args, "--workers", "1"], { env: here.env });
  await printed(running, "stored on the bus");
  expect(here.processes().filter((line) => line.includes("denrei.js gateway"))).toHaveLength(2);
  process.kill(pidOf(here, "denrei.js gateway"), "SIGKILL");
  await printed(running, /^gateway-[12] was ended by SIGKILL; restarting it\.$/);
  await printed(running, /^gateway-[12] restarted \(pid \d+\)/);
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

test("fails when the GitHub simulator exits", async () => {
  const here = testFolder();
  const running = start([...args, "--workers", "1"], { env: here.env });
  await printed(running, "stored on the bus");
  process.kill(pidOf(here, `${program} --deliver-to`), "SIGKILL");
  const { code, signal, stderr } = await running.ended;
  const says = "denrei: the GitHub simulator was ended by SIGKILL\n";
  expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr: says });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

describe("in an existing cluster", () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await startTestEnvironment();
  });
  afterAll(() => environment?.stop());

  const env = (): Environment => ({
    KUBECONFIG: environment.platform.kubeconfigPath,
    NATS_URL: environment.platform.natsUrl,
  });
  const namespaces = async () => (await environment.client.list(Namespace)).items;

  test("uses its own namespace, and deletes it at the end", async () => {
    const here = testFolder();
    const ended = await run(args, { env: { ...here.env, ...env() } });
    const { code, stdout, stderr } = ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Using the cluster at ${environment.client.connection.server}`);
    const name = /The namespace (\S+) is deleted; the CRDs stay in the cluster\./.exec(stdout)?.[1] ?? "";
    expect(name).toMatch(/^denrei-demo-[a-z0-9]+$/);
    expectSteps(stdout, `${name}/web`, name);
    expectNoSecrets(ended);
    await environment.untilGone(Namespace, { name });
    // No other namespace is opted in.
    expect((await namespaces()).filter(({ metadata }) => metadata.labels?.[optInLabel])).toEqual([]);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });

  test("ends and deletes its namespace when the output is closed", async () => {
    const here = testFolder();
    const running = start(args, { env: { ...here.env, ...env() } });
    await printed(running, "got a token");
    const demoNamespaces = async () =>
      (await namespaces()).filter(({ metadata }) => /^denrei-demo/.test(metadata.name));
    expect(await demoNamespaces()).toHaveLength(1);
    running.process.stdout?.destroy();
    const { code, signal, stderr } = await running.ended;
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
    await expect.poll(demoNamespaces, polling).toEqual([]);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  });
});
