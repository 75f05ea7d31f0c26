import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { CustomResourceDefinition } from "../../bus/kube/install.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { clusterVariable } from "./ground.ts";
import { startKit, startOwnKit } from "./kit.ts";

let cluster: LocalPlatform;
beforeAll(async () => {
  cluster = await startLocalPlatform({ controllerManager: "omit" });
});
afterAll(() => cluster?.stop());
afterEach(() => vi.unstubAllEnvs());

const probe = { name: "probes.test.denrei.dev" };

test("a kit in an existing cluster brings its bus and CRDs, and leaves the cluster as it is", async () => {
  vi.stubEnv(clusterVariable, cluster.kubeconfigPath);
  const kit = await startKit({ crds: [crdOf(Probe)] });
  try {
    expect(kit.origin).toBe("existing");
    expect(kit.platform.kubeconfigPath).toBe(cluster.kubeconfigPath);
    expect(kit.platform.directory).not.toBe(cluster.directory);
    expect(kit.platform.nats.url).not.toBe(cluster.nats.url);
    await kit.bridge("bridge-1");
    const worker = await kit.worker("worker-1", ["hikawa"]);
    expect(await worker.probe("/readyz")).toMatchObject({ status: 200 });
  } finally {
    await kit.stop();
  }
  expect(kit.platform.nats.pid).toBeUndefined();
  const client = await connectCluster({ path: cluster.kubeconfigPath });
  try {
    expect((await client.get(CustomResourceDefinition, probe)).metadata.name).toBe(probe.name);
  } finally {
    await client.connection.close();
  }
});

test("a kit that needs a control plane to itself says so at once, in an existing cluster", async () => {
  vi.stubEnv(clusterVariable, cluster.kubeconfigPath);
  await expect(startOwnKit()).rejects.toThrow(
    `${clusterVariable} names an existing cluster (${cluster.kubeconfigPath})`,
  );
});

test("a kubeconfig that is not there is named", async () => {
  vi.stubEnv(clusterVariable, "/nowhere/kubeconfig");
  await expect(startKit()).rejects.toThrow("/nowhere/kubeconfig");
});

test("without the variable a kit has a cluster of its own, and nodes if it wants some", async () => {
  vi.stubEnv(clusterVariable, undefined);
  const kit = await startOwnKit({ nodes: 1, crds: [] });
  try {
    expect(kit.origin).toBe("local");
    expect(kit.client.connection.server).not.toBe(cluster.apiserver.url);
    const nodes = await kit.client.request<{ items: { metadata: object }[] }>({
      method: "GET",
      path: "/api/v1/nodes",
    });
    expect(nodes.items.map(({ metadata }) => metadata)).toMatchObject([{ name: "node-1" }]);
    await expect(kit.client.get(CustomResourceDefinition, probe)).rejects.toMatchObject({ status: 404 });
  } finally {
    await kit.stop();
  }
});
