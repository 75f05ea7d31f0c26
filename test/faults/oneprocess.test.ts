/** `denrei run`: replicas with bridge, gateway, and workers in one process share the work, and replace each other. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { run, start } from "../cli/program.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { hookSecret, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { gatewaySettings } from "../ket/replica.ts";

const project = fileURLToPath(new URL("../fixtures/oneprocess", import.meta.url));
const branches = fileURLToPath(new URL("../fixtures/functions/branches.ts", import.meta.url));
const settings = {
  DENREI_ACK_WAIT_SECONDS: "4",
  [wordsVariable]: "Doko,Zun,Zun,Doko,Doko,Zun,Doko,Zun,Zun,Zun,Zun,Doko",
};
const at = (name: string) => ({ namespace: "default", name });

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment();
});
afterAll(() => environment?.stop());

/** Starts `denrei run` as the bus user of its role. Resolves when it is ready. */
async function startRun(name: string) {
  const { platform } = environment;
  const running = start(["run"], {
    cwd: project,
    env: {
      ...settings,
      ...(await gatewaySettings(platform, name, [hookSecret])),
      KUBECONFIG: platform.kubeconfigPath,
      NATS_URL: platform.natsUrlFor("run"),
      DENREI_REPLICA: name,
      NODE_NO_WARNINGS: "1",
    },
  });
  const logged = async (msg: string, key = "") => {
    const line = await running.lines.until((text) => text.includes(`"msg":"${msg}"`) && text.includes(key));
    return JSON.parse(line) as Record<string, string>;
  };
  const { probes } = await logged("starting");
  const { url } = await logged("gateway ready");
  await logged("run ready");
  const ask = async (path: string) => (await fetch(`${probes}${path}`)).text();
  return { ...running, logged, ask, hookUrl: `${url}/github/app` };
}

async function sing(names: readonly string[], intervalMillis: number): Promise<void> {
  for (const name of names)
    await environment.client.create(Hikawa, hikawa(name, intervalMillis), { fieldManager: "test" });
}

async function expectSung(names: readonly string[]): Promise<void> {
  for (const name of names) await environment.until(Hikawa, at(name), isFinished);
  await expectFinishedSongs(environment, names);
}

test("objects and webhooks complete when one of two replicas is killed, and separate processes take over", async () => {
  const { client } = environment;
  const [one, two] = await Promise.all([startRun("run-1"), startRun("run-2")]);
  for (const { ask } of [one, two]) {
    expect(await ask("/readyz")).toBe("ok\n");
    const metrics = await ask("/metrics");
    for (const part of [
      "denrei_bridge_events_total",
      "controller_runtime_reconcile_total",
      "denrei_gateway_requests_total",
    ])
      expect(metrics).toContain(`# TYPE ${part} `);
  }

  const during = ["first", "second", "third", "fourth"];
  await sing(during, 500);
  await client.create(
    Branch,
    {
      ...{ apiVersion: "test.denrei.dev/v1", kind: "Branch", metadata: at("slow") },
      spec: { repository: "acme/slow", branch: "main", webhookMillis: 2000 },
    },
    { fieldManager: "test" },
  );
  await Promise.any([one, two].map(({ logged }) => logged("looked at the branch", "default/slow")));

  const hook = hookOf("push", push("acme/slow", "main"));
  expect(await post(one.hookUrl, hook)).toBe(202);
  const victim = await Promise.any(
    [one, two].map(async (replica) => {
      await replica.logged("looking at the branch", hook.delivery);
      return replica;
    }),
  );
  const survivor = victim === one ? two : one;
  victim.process.kill("SIGKILL");
  // The survivor finishes what the killed replica had in flight, and leads its kinds.
  await survivor.logged("looked at the branch", hook.delivery);
  await sing(["afterwards"], 0);
  await expectSung([...during, "afterwards"]);
  expect(await post(survivor.hookUrl, hook)).toBe(202);

  await environment.bridge("bridge-1", { args: ["hikawa", branches], env: settings });
  await environment.worker("worker-1", ["hikawa"], { env: settings });
  await sing(["handed-over"], 500);
  await environment.until(Hikawa, at("handed-over"), ({ status }) => (status?.numZundokosSaid ?? 0) > 0);
  survivor.process.kill("SIGTERM");
  expect(await survivor.ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  await expectSung(["handed-over"]);
});

test("a project without webhooks needs no webhook settings", async () => {
  const folder = await mkdtemp(join(tmpdir(), "without-webhooks-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "denrei.config.ts"), "export default { functions: {} };\n");
  const { code, stderr } = await run(["run"], { cwd: folder, env: { KUBECONFIG: join(folder, "none") } });
  // It gets past its settings.
  expect(stderr).toMatch(/^denrei: expected a kubeconfig at /);
  expect(code).toBe(1);
});
