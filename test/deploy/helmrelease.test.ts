/** The Helm chart on a real API server: installed, upgraded, and uninstalled. */
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { type Chart, type Outcome, openChart, type Values } from "./chart.ts";
import { containerOf, type Manifest, type Workload } from "./manifests.ts";

await programs(...platformPrograms);

const namespace = "platform";

let platform: LocalPlatform;
let connection: KubeConnection;
let chart: Chart;
beforeAll(async () => {
  platform = await startLocalPlatform({ controllerManager: "omit" });
  connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
  chart = await openChart({ kubeconfig: platform.kubeconfigPath });
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(async () => {
  await chart?.remove();
  await connection?.close();
  await platform?.stop();
});

const helm = (args: readonly string[], values?: Values): Promise<Outcome> =>
  chart.helm([...args, "--namespace", namespace], values);

async function list<T extends Manifest>(path: string): Promise<T[]> {
  const { body } = await request(`${connection.server}${path}`, { dispatcher: connection.requests });
  return ((await body.json()) as { items: T[] }).items;
}

const deployments = () => list<Workload>(`/apis/apps/v1/namespaces/${namespace}/deployments`);

const images = async () => new Set((await deployments()).map((deployment) => containerOf(deployment).image));

const crds = async () =>
  (await list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"))
    .map(({ metadata }) => metadata.name)
    .sort();

const done = (said: string) => ({ code: 0, output: expect.stringContaining(said) });

/** The Deployments of all functions. */
const ours = crdManifests(functions)
  .map(({ metadata }) => (metadata as Manifest["metadata"]).name)
  .sort();

test("a release is installed, upgraded to another image, and uninstalled except for the CRDs", async () => {
  const install = ["install", "denrei", chart.folder, "--create-namespace"];
  const without = { functions: { "pipecd-mongo": { enabled: false } } };
  expect(await helm(install, without)).toEqual(done("STATUS: deployed"));
  expect(await crds()).toEqual(ours);
  expect(await deployments()).toHaveLength(functions.length - 1 + 2);
  expect((await images()).size).toBe(1);

  const values = { image: { repository: "registry.example.com/denrei", tag: "1.2.3" } };
  const upgrade = ["upgrade", "denrei", chart.folder, "--reset-values"];
  expect(await helm(upgrade, values)).toEqual(done("REVISION: 2"));
  expect(await images()).toEqual(new Set(["registry.example.com/denrei:1.2.3"]));
  expect(await deployments()).toHaveLength(functions.length + 2);

  expect(await helm(["rollback", "denrei", "1"])).toEqual(done("success"));
  expect(await deployments()).toHaveLength(functions.length - 1 + 2);

  const older = { ...values, crds: { enabled: false } };
  expect(await helm(upgrade, older)).toEqual(done("REVISION: 4"));
  expect(await crds()).toEqual(ours);

  expect(await helm(["uninstall", "denrei"])).toEqual(done("uninstalled"));
  expect(await deployments()).toEqual([]);
  expect(await crds()).toEqual(ours);
});
