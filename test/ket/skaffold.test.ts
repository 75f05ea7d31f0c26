/**
 * Functions that skaffold deploys in a kind cluster. Docker, kind, skaffold, and `kubectl port-forward` are simulated. The cluster is a
 * local control plane. Bus, bridge, and worker run next to it with the certificates that were applied there, and only the forwarded port
 * leads to the bus.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { podLogLine } from "../../deploy/local/index.ts";
import { type Machine, simulatedMachine } from "../fixtures/kindsimulator/machine.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { startKet } from "../harness/startket.ts";
import { type Secret, startTlsBus, type TlsBus } from "../harness/tlsbus.ts";
import { type Forward, type Ket, type KetOptions, platformSecrets } from "./index.ts";

const kubectl = (await programs("kubectl")).kubectl.path;

const secrets = await platformSecrets();
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "denrei" } };
const fixtures = fileURLToPath(new URL("../fixtures/cases/zundoko", import.meta.url));

let folder: string;
let environment: LocalTestEnvironment;
let bus: TlsBus;
let busPort: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-skaffold-"));
  environment = await startLocalTestEnvironment();
  bus = await startTlsBus(environment.platform, secrets.filter(({ type }) => type) as unknown as Secret[]);
  busPort = Number(new URL(bus.url).port);
  await environment.bridge("bridge-1", { env: bus.env("denrei-bridge-tls") });
  const env = {
    DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko",
    ...bus.env("denrei-hikawa-tls"),
  };
  await environment.worker("worker-1", ["hikawa"], { env });
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "denrei-hikawa", namespace: "denrei" },
    spec: {
      selector: { matchLabels: { app: "hikawa" } },
      template: {
        metadata: { labels: { app: "hikawa" } },
        spec: { containers: [{ name: "worker", image: "denrei:1" }] },
      },
    },
  };
  await writeFile(join(folder, "deployment.yaml"), JSON.stringify(deployment));
  const config = {
    apiVersion: "skaffold/v4beta13",
    kind: "Config",
    // A cluster other than the run's.
    deploy: { kubeContext: "kind-denrei", kubectl: {} },
    manifests: { rawYaml: [join(folder, "deployment.yaml")] },
  };
  await writeFile(join(folder, "skaffold.yaml"), JSON.stringify(config));
});
afterAll(async () => {
  await environment?.stop();
  await rm(folder, { recursive: true, force: true });
});

let machine: Machine;
beforeEach(async () => {
  machine = await simulatedMachine({
    kubeconfig: environment.platform.kubeconfigPath,
    kubectl,
    forwards: { "denrei service/nats 4222": busPort },
  });
  for (const [name, value] of Object.entries(machine.env)) vi.stubEnv(name, value);
});
afterEach(async () => {
  await Promise.all(runs.splice(0).map((ket) => ket.stop()));
  vi.unstubAllEnvs();
  await machine.remove();
});

const runs: Ket[] = [];
const deployed = (more: KetOptions["skaffold"] = {}): KetOptions => ({
  cluster: "kind",
  functions: ["hikawa"],
  fixtures,
  skaffold: { file: join(folder, "skaffold.yaml"), before: [namespace, ...secrets], ...more },
});

async function running(options = deployed()): Promise<Ket> {
  const ket = await startKet(options);
  runs.push(ket);
  return ket;
}

test("are deployed with the run's kubeconfig and context, and run a case", async () => {
  const ket = await running();
  const { context = "", name = "" } = ket.kind ?? {};
  const [args = []] = machine.calls("skaffold");
  const option = (name: string) => args[args.indexOf(name) + 1];
  expect([args[0], option("--filename"), option("--kubeconfig"), option("--kube-context")]).toEqual([
    ...["run", join(folder, "skaffold.yaml"), ket.kubeconfigPath, context],
  ]);
  const { metadata } = await environment.client.get(Deployment, {
    namespace: "denrei",
    name: "denrei-hikawa",
  });
  expect(metadata.labels).toEqual({ "test.denrei.dev/ket-run": name.replace("ket-", "") });
  expect(ket.workers).toEqual([]);
  expect(ket.nats.identity.user).toBe("denrei-operator");
  await ket.apply("sample");
});

test("report a failed case with the log of their pods and the state of the queue", async () => {
  const ket = await running();
  const line = JSON.stringify({ level: "warn", msg: "heard", key: `${ket.namespace}/hikawa-sample` });
  await writeFile(environment.platform.podLogsPath ?? "", podLogLine(line));
  onTestFinished(() => writeFile(environment.platform.podLogsPath ?? "", ""));
  await environment.until(Deployment, { namespace: "denrei", name: "denrei-hikawa" }, isRolledOut);
  const failing = ket.apply("sample", () => {
    throw new Error("fails in the callback");
  });
  const error: Error = await failing.then(
    () => new Error("none"),
    (reason) => reason,
  );
  expect(error.message).toContain("warn heard");
  expect(error.message).toContain(`queue:\n    hikawa ${ket.namespace}/hikawa-sample: `);
});

test("are reachable with kubectl and through forwarded ports, which recover after kubectl has ended", async () => {
  // Killing kubectl resets its connections.
  const server = createServer((socket) => socket.on("error", () => undefined).end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { readonly port: number };
  const ket = await running();
  await machine.behave({
    forwards: { "denrei service/nats 4222": busPort, "denrei service/denrei-gateway 80": port },
  });
  expect(await ket.kind?.kubectl("get", "namespace", ket.namespace, "--output", "name")).toBe(
    `namespace/${ket.namespace}\n`,
  );
  const target = { namespace: "denrei", resource: "service/denrei-gateway", port: 80 };
  const gateway = (await ket.kind?.forward(target)) as Forward;
  const answer = async () => (await fetchText(gateway.port)) ?? "refused";
  expect(await answer()).toBe("hello");
  process.kill(machine.pidOf(`:80`), "SIGKILL");
  await expect.poll(answer).toBe("hello");
  await gateway.stop();
  expect(await answer()).toBe("refused");
  await expect(ket.kind?.forward({ ...target, port: 81 })).rejects.toThrow(/not found/);
});

test("are deployed with the chosen version of skaffold, and without this user's settings", async () => {
  await machine.behave({ skaffoldVersion: "2.17.3" });
  vi.stubEnv("SKAFFOLD_DEFAULT_REPO", "registry.example.com");
  await running(deployed({ version: "v2.17.3" }));
  expect(machine.calls("skaffold")).toHaveLength(1);
});

test("need an existing version of skaffold before a cluster is created", async () => {
  vi.stubEnv("DENREI_RELEASES_GITHUB", "http://127.0.0.1:1");
  await expect(startKet(deployed({ version: "2.99.9" }))).rejects.toThrow("no source has skaffold 2.99.9");
  expect(machine.calls("kind")).toEqual([]);
});

test("report a failed deployment with skaffold's output, and remove the cluster", async () => {
  await machine.behave({ deploy: { fails: "build [denrei] failed: no space left" } });
  await expect(startKet(deployed())).rejects.toThrow(
    /^skaffold run --filename \S+skaffold\.yaml exited with code 1:\n\s+build \[denrei\] failed: no space left/,
  );
  expect(await machine.containers()).toEqual([]);
});

test("report where a missing certificate for the run is expected", async () => {
  await expect(startKet(deployed({ bus: { secret: "absent" } }))).rejects.toThrow(
    "no Secret denrei/absent: a run needs its certificate to connect to the bus",
  );
  expect(await machine.containers()).toEqual([]);
});

/** Whether its only pod is ready and from the current template: an earlier run's pods have another label. */
function isRolledOut({ metadata: { generation }, status }: Stored<Deployment>): boolean {
  const { observedGeneration, ...counts } = (status ?? {}) as Readonly<Record<string, number>>;
  const { replicas, updatedReplicas, readyReplicas } = counts;
  return (
    observedGeneration === generation && [replicas, updatedReplicas, readyReplicas].every((n) => n === 1)
  );
}

/** The first output of a server; undefined when nothing listens. */
async function fetchText(port: number): Promise<string | undefined> {
  return text(connect(port, "127.0.0.1")).catch(() => undefined);
}
