/** `denrei up` (npm start). */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { CustomResourceDefinition } from "../../bus/kube/install.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { project } from "../dev/project.ts";
import { firstMark, put } from "../dev/stones.ts";
import { hikawa } from "../harness/song.ts";
import { logIn } from "../harness/visitor.ts";
import { runHere } from "./here.ts";
import { testFolder } from "./program.ts";
import { guided, pidOf, printed, up } from "./up.ts";

const deployments = "/api/kubernetes/apis/apps/v1/namespaces/default/deployments";

test("the commands of its guide work, processes are restarted, and Ctrl-C stops everything", async () => {
  const here = testFolder();
  const running = up(here, 2);
  const { url, alice, bob } = await guided(running);
  await printed(running, /^hikawa-sample: Kiyoshi! after 6 words \(worker-\d \d.*\)$/);
  // The song adds one line, so that the guide stays on the screen.
  const last = running.lines.all.slice(-3);
  expect(last).toEqual([
    expect.stringMatching(/^Logs are in .* Ctrl-C stops everything\.$/),
    "",
    expect.stringMatching(/^hikawa-sample: /),
  ]);
  const guide = running.lines.all.filter((line) => line.startsWith("    ")).map((line) => line.trim());
  const [exported = "", objects, status = "", again, kill = ""] = guide;
  expect(objects).toBe("kubectl get hikawas,zundokos,kiyoshis");
  expect(status).toBe("npx denrei status");
  expect(again).toBe("kubectl replace --force -f functions/zundoko/sample.yaml");
  const [, KUBECONFIG = "", NATS_URL = ""] = /^export KUBECONFIG=(\S+) NATS_URL=(\S+)$/.exec(exported) ?? [];
  // The bridge stores the number of objects once a second.
  const counted = async () => (await runHere(["status"], { env: { KUBECONFIG, NATS_URL } })).stdout;
  await expect
    .poll(counted, { timeout: 30_000, interval: 100 })
    .toMatch(/^Kiyoshi\S+ +\(all\) +1 +bridge-1 +watching/m);

  for (const person of [alice, bob]) {
    const visitor = await logIn(url, person);
    await expect
      .poll(() => visitor.ask(deployments), { timeout: 30_000, interval: 100 })
      .toMatchObject({ status: 200 });
  }
  await expect(logIn(url, { name: "alice", password: bob.password })).rejects.toThrow(
    "the issuer did not log alice in",
  );
  const session = await logIn(url, alice);

  expect(kill).toBe(`kill -9 ${/\d+$/.exec(kill)?.[0]}`);
  execFileSync("sh", ["-c", kill]);
  process.kill(pidOf(here, "denrei.js bridge"), "SIGKILL");
  process.kill(pidOf(here, "denrei.js dashboard"), "SIGKILL");
  process.kill(pidOf(here, "/nats-server --config"), "SIGKILL");
  for (const name of ["worker-1", "bridge-1", "dashboard-1", "nats-server"]) {
    await printed(running, `${name} was ended by SIGKILL; restarting it.`);
    await printed(running, new RegExp(`^${name} restarted \\(pid \\d+\\)`));
  }
  const connection = await openConnection(loadKubeconfig({ path: KUBECONFIG }));
  await kubeClient(connection).create(Hikawa, hikawa("another", 0), { fieldManager: "test" });
  await connection.close();
  await printed(running, "another sings.");
  await printed(running, /^another: Kiyoshi! after 6 words/);
  // Sessions survive: they are on the bus, and the keys are in a file.
  await expect
    .poll(async () => (await session.ask("/api/session")).json(), { timeout: 30_000, interval: 100 })
    .toMatchObject({ user: "alice" });

  running.process.kill("SIGINT");
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("in another project, it runs only the functions of that project, and Ctrl-C stops everything", async () => {
  const here = testFolder();
  const running = project(here).start(["up", "--workers", "1"]);
  const exported = await printed(running, "export KUBECONFIG=");
  await printed(running, "Ctrl-C stops everything.");
  expect(running.lines.all).toContain("pebble runs on 1 replica.");
  expect(running.lines.all).toContain("    kubectl get pebbles.test.denrei.dev -A");
  const path = /KUBECONFIG=(\S+)/.exec(exported)?.[1] ?? "";
  const connection = await openConnection(loadKubeconfig({ path }));
  const client = kubeClient(connection);
  const { items } = await client.list(CustomResourceDefinition);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["pebbles.test.denrei.dev"]);
  await put(client, "first");
  expect(await firstMark(client, "first")).toBe("1");
  await connection.close();

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test.for(["Starting a local platform:", "  etcd  "])(
  "Ctrl-C during the start, at %o, leaves nothing behind",
  async (moment) => {
    const here = testFolder();
    const running = up(here);
    await printed(running, moment);
    running.process.kill("SIGINT");
    const { code, signal, stdout, stderr } = await running.ended;
    expect({ code, signal, stderr }).toEqual({ code: 130, signal: null, stderr: "" });
    expect(stdout).toMatch(/\nStopping everything\.\n$/);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  },
);
