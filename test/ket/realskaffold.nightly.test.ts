/**
 * The real skaffold and kubectl deploy for a run. Nothing is built, so no Docker is needed. kind and Docker are simulated, and the pods
 * become ready without being run.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Pod } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { type Machine, simulatedMachine } from "../fixtures/kindsimulator/machine.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { startKet } from "../harness/startket.ts";
import { type Secret, startTlsBus } from "../harness/tlsbus.ts";
import { DeployError, type KetOptions, platformSecrets } from "./index.ts";

const { skaffold, kubectl } = await programs("skaffold", "kubectl");

const secrets = await platformSecrets();
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "denrei" } };

let folder: string;
let environment: LocalTestEnvironment;
let machine: Machine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-real-skaffold-"));
  environment = await startLocalTestEnvironment();
  const bus = await startTlsBus(
    environment.platform,
    secrets.filter(({ type }) => type) as unknown as Secret[],
  );
  machine = await simulatedMachine({
    kubeconfig: environment.platform.kubeconfigPath,
    kubectl: kubectl.path,
    forwards: { "denrei service/nats 4222": Number(new URL(bus.url).port) },
  });
  await machine.use("skaffold", skaffold.path);
  for (const [name, value] of Object.entries(machine.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await machine?.remove();
  await environment?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A run that deploys one manifest. The configuration names another cluster. */
async function deploying(manifest: object): Promise<KetOptions> {
  const [path, file] = [join(folder, "manifest.yaml"), join(folder, "skaffold.yaml")];
  await writeFile(path, JSON.stringify(manifest));
  const config = {
    apiVersion: "skaffold/v4beta13",
    kind: "Config",
    deploy: { kubeContext: "kind-denrei", kubectl: {}, statusCheckDeadlineSeconds: 60 },
    manifests: { rawYaml: [path] },
  };
  await writeFile(file, JSON.stringify(config));
  return { cluster: "kind", skaffold: { file, before: [namespace, ...secrets] } };
}

const deployment = (image: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "worker", namespace: "denrei" },
  spec: {
    selector: { matchLabels: { app: "worker" } },
    template: {
      metadata: { labels: { app: "worker" } },
      spec: { containers: [{ name: "worker", image }] },
    },
  },
});

test("deploys to the run's cluster instead of the one in skaffold's configuration, and labels what it deploys", async () => {
  const ket = await startKet(await deploying(deployment("denrei:1")));
  try {
    const { metadata } = await environment.client.get(Deployment, { namespace: "denrei", name: "worker" });
    const label = { "test.denrei.dev/ket-run": ket.kind?.name.replace("ket-", "") };
    expect(metadata.labels).toMatchObject(label);
    const selected = { labelSelector: Object.entries(label).join().replace(",", "=") };
    expect((await environment.client.list(Pod, "denrei", selected)).items).toHaveLength(1);
  } finally {
    await ket.stop();
  }
});

test("reports what the API server rejects with skaffold's output", async () => {
  const error: Error = await startKet(await deploying({ ...deployment("denrei:1"), spec: {} })).then(
    () => new Error("none"),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(DeployError);
  expect(error.message).toContain("spec.selector");
});
