import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { CustomResourceDefinition } from "../../bus/kube/install.ts";
import { Banner } from "../fixtures/functions/banners.ts";
import {
  type LocalTestEnvironment,
  startLocalTestEnvironment,
  startOwnTestEnvironment,
  startTestEnvironment,
} from "./environment.ts";
import { clusterVariable } from "./platforms.ts";

let local: LocalTestEnvironment;
let cluster: LocalTestEnvironment["platform"];
beforeAll(async () => {
  local = await startLocalTestEnvironment();
  cluster = local.platform;
});
afterAll(() => local?.stop());
afterEach(() => vi.unstubAllEnvs());

// A kind that the local cluster does not have yet.
const banner = { name: "banners.test.denrei.dev" };

test("an environment in an existing cluster brings its bus and CRDs, and leaves the cluster unchanged otherwise", async () => {
  vi.stubEnv(clusterVariable, cluster.kubeconfigPath);
  const environment = await startTestEnvironment({ crds: [crdOf(Banner)] });
  try {
    expect(environment.origin).toBe("existing");
    expect(environment.platform.kubeconfigPath).toBe(cluster.kubeconfigPath);
    expect(environment.platform.directory).not.toBe(cluster.directory);
    expect(environment.platform.nats.url).not.toBe(cluster.nats.url);
    await environment.bridge("bridge-1");
    const worker = await environment.worker("worker-1", ["hikawa"]);
    expect(await worker.probe("/readyz")).toMatchObject({ status: 200 });
  } finally {
    await environment.stop();
  }
  expect(environment.platform.nats.pid).toBeUndefined();
  expect((await local.client.get(CustomResourceDefinition, banner)).metadata.name).toBe(banner.name);
});

test("an environment with its own control plane fails at once when the environment names an existing cluster", async () => {
  vi.stubEnv(clusterVariable, cluster.kubeconfigPath);
  await expect(startOwnTestEnvironment()).rejects.toThrow(
    `${clusterVariable} names an existing cluster (${cluster.kubeconfigPath})`,
  );
});

test("names a kubeconfig that does not exist", async () => {
  vi.stubEnv(clusterVariable, "/nowhere/kubeconfig");
  await expect(startTestEnvironment()).rejects.toThrow("/nowhere/kubeconfig");
});

test("without the variable, an environment has its own cluster, with nodes on request", async () => {
  vi.stubEnv(clusterVariable, undefined);
  const environment = await startOwnTestEnvironment({ nodes: 1, crds: [] });
  try {
    expect(environment.origin).toBe("local");
    expect(environment.client.connection.server).not.toBe(local.client.connection.server);
    const nodes = await environment.client.request<{ items: { metadata: object }[] }>({
      method: "GET",
      path: "/api/v1/nodes",
    });
    expect(nodes.items.map(({ metadata }) => metadata)).toMatchObject([{ name: "node-1" }]);
    await expect(environment.client.get(CustomResourceDefinition, banner)).rejects.toMatchObject({
      status: 404,
    });
  } finally {
    await environment.stop();
  }
});
