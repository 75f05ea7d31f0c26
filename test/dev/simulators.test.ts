/** `denrei dev --simulate github,kpack,pipecd`: simulators of what functions need, and one address for webhooks. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import type { Condition, KubeObject } from "../../bus/kube/object.ts";
import { Node } from "../../deploy/local/nodes.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { run, testFolder } from "../cli/program.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { openKubectl } from "../ket/kubectl.ts";
import { project, startDev } from "./project.ts";
import { source } from "./stonecode.ts";
import { put, stone, untilMarked } from "./stones.ts";

const pollOptions = { timeout: 60_000, interval: 50 };
const saves = 3;

const ClusterBuilder = externalKind<KubeObject<object, { conditions?: Condition[] }>>({
  group: "kpack.io",
  version: "v1alpha2",
  kind: "ClusterBuilder",
  plural: "clusterbuilders",
  scope: "Cluster",
});
/** A function whose mark contains the address of PipeCD. */
const marking = (code: number): string =>
  source({
    webhooks: 'github.on("push", { keys: () => [] })',
    mark: `${code} " + process.env.DENREI_PIPECD_WEB_ADDRESS + "`,
  });

test("what the guide prints works, and no webhook is lost while code is saved or when the gateway dies", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.addFunctions("ghapp");
  // The PipeCD simulator needs the functions that it is written for.
  for (const folder of ["pipecd", "paas"]) mine.addFunctions(folder);
  mine.save("stones/pebble.ts", marking(1));
  mine.saveConfig({
    pebble: "stones/pebble.ts",
    githubapp: "ghapp/githubapp.ts",
    installation: "ghapp/installation.ts",
  });
  const args = ["--simulate", "github,kpack,pipecd"];
  const { client, printed, running } = await startDev(mine, args);
  for (const object of [
    await client.get(ClusterBuilder, { name: "default" }),
    await client.get(Node, { name: "node-1" }),
  ])
    expect(object.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "True" }),
    );
  await put(client, "first");
  const markOf = async () => (await stone(client, "first")).status?.mark ?? "";
  await expect.poll(markOf, pollOptions).toMatch(/^1 127\.0\.0\.1:\d+$/);
  const mark = await markOf();

  const captured = (pattern: RegExp): string[] => {
    const line = running.lines.all.find((one) => pattern.test(one)) ?? "";
    return [...(pattern.exec(line) ?? [])].slice(1);
  };

  const [manifestPath = ""] = captured(/kubectl apply -f (\S+github\.yaml)/);
  const options = { namespace: "default", deadlineMillis: 60_000, propagation: "Background" } as const;
  await openKubectl({ client, ...options }, { add: () => 0, gone: () => 0 }).applyFile(manifestPath);
  const installation = () => client.get(Installation, { namespace: "acme", name: "acme" });
  await expect.poll(async () => (await installation()).status?.secret, pollOptions).toBeDefined();

  const [url = "", headerPath = "", body = ""] = captured(/curl -X PUT (\S+) -H @(\S+) -d '(.+)'/);
  const [name = "", value = ""] = readFileSync(headerPath, "utf8").trim().split(": ");
  const answer = await fetch(url, { method: "PUT", headers: { [name]: value }, body });
  expect(answer.status).toBe(201);
  await printed(/ gateway github push [0-9a-f]{8} {2}stored, answered 202$/);

  const [hook = "", secretPath = ""] = captured(/Send webhooks to (\S+), with the secret in (\S+)\.$/);
  const secret = readFileSync(secretPath, "utf8").trim();
  const pushed = hookOf("push", push("acme/web", "main"), undefined, secret);
  // A request on a kept connection can be lost when the gateway closes that connection at the same moment.
  const alone = { ...pushed, headers: { ...pushed.headers, connection: "close" } };
  const deliver = (): Promise<number | string> =>
    post(hook, alone).catch((error: Error) => `${error}: ${error.cause}`);
  const answers: (number | string)[] = [];
  const saving = new AbortController();
  const stream = (async () => {
    for (; !saving.signal.aborted; await sleep(50)) answers.push(await deliver());
  })();
  for (let code = 2; code <= saves + 1; code++) {
    mine.save("stones/pebble.ts", marking(code));
    await printed(`Code ${code} runs`);
  }
  saving.abort();
  await stream;
  // Workers have the address of PipeCD after a save too.
  await untilMarked(client, "first", mark.replace("1", String(saves + 1)));
  expect(answers.length).toBeGreaterThan(saves);
  expect(new Set(answers)).toEqual(new Set([202]));

  const gateways = () => here.processes().filter((line) => /^\d+ \S*node \S+denrei\.js gateway$/.test(line));
  // The previous gateway first completes its requests.
  await expect.poll(gateways, pollOptions).toHaveLength(1);
  process.kill(Number.parseInt(gateways()[0] ?? "", 10), "SIGKILL");
  await printed(`gateway-1-code-${saves + 1} was ended by SIGKILL; restarting it`);
  await printed(`gateway-1-code-${saves + 1} is running again`);
  expect(await deliver()).toBe(202);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("refuses a gateway port that is taken, and starts nothing", async () => {
  const here = testFolder();
  const server = createServer().listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ended = await project(here).start(["dev", "--gateway-port", String(port)]).ended;
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain(`cannot listen at port ${port} for webhooks: listen EADDRINUSE`);
});

describe.concurrent("rejects", () => {
  test.each<[args: string[], env: Record<string, string>, says: string]>([
    [
      ["--simulate", "kpack"],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "--simulate kpack uses simulators and runs on a local platform only. Unset KUBECONFIG and NATS_URL. To use a cluster, see docs/paas.md",
    ],
    [
      ["--simulate", "pipecd"],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "--simulate pipecd uses simulators and runs on a local platform only. Unset KUBECONFIG and NATS_URL. To use a cluster, see docs/pipecd.md",
    ],
    [
      ["--nodes", "2"],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "--nodes works on a local platform only. Omit it, or unset KUBECONFIG and NATS_URL",
    ],
    [
      ["--simulate", "kpack,github,gitlab"],
      {},
      'Expected a comma-separated list of github, kpack, pipecd; found "gitlab"',
    ],
  ])("%j", async (args, env, says) => {
    const ended = await run(["dev", ...args], { env });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(says);
  });
});
