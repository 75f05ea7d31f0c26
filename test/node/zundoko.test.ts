/** Zundoko on real pods: the overlay for kind, with a kubelet, while pods are killed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { clusterVariable } from "../harness/platforms.ts";
import { random } from "../harness/random.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push, signatureOf } from "../harness/webhooks.ts";
import { type Deployed, deploy } from "./deployed.ts";

type PodObject = KubeObject<
  { containers: { securityContext?: object }[]; serviceAccountName: string },
  { phase?: string; containerStatuses?: { restartCount: number; ready: boolean }[] }
>;
type Scaled = KubeObject<{ replicas: number }, { readyReplicas?: number }>;

const Pod = externalKind<PodObject>({ group: "", version: "v1", kind: "Pod", plural: "pods" });
const apps = { group: "apps", version: "v1" } as const;
const Deployment = externalKind<Scaled>({ ...apps, kind: "Deployment", plural: "deployments" });
const StatefulSet = externalKind<Scaled>({ ...apps, kind: "StatefulSet", plural: "statefulsets" });
const namespace = "denrei";
const patience = 240_000;

let deployed: Deployed;
let environment: TestEnvironment;

beforeAll(async () => {
  deployed = await deploy((line) => console.log(line));
  process.env[clusterVariable] = deployed.cluster.kubeconfigPath;
  environment = await startTestEnvironment({ crds: [] });
}, 600_000);
afterAll(async () => {
  await environment?.stop();
  await deployed?.stop();
});

const isReady = ({ spec, status }: Stored<Scaled>): boolean => status?.readyReplicas === spec.replicas;

async function untilAllAreReady(): Promise<void> {
  const workloads = deployed.objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  expect(workloads.length).toBeGreaterThan(3);
  for (const { kind, metadata } of workloads) {
    const type = kind === "Deployment" ? Deployment : StatefulSet;
    await environment.until(type, { namespace, name: metadata.name }, isReady, patience);
  }
}

const podsOf = async (component: string): Promise<Stored<PodObject>[]> => {
  const { items } = await environment.client.list(Pod, namespace);
  return items.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === component);
};

/** Kills a pod without a graceful stop, like a lost node. */
async function killPod({ metadata }: Stored<PodObject>): Promise<void> {
  const path = resourcePath(Pod, namespace, metadata.name);
  await environment.client.request({ method: "DELETE", path, query: { gracePeriodSeconds: 0 } });
}

/** Creates Hikawas and resolves when all of them have finished. */
async function sing(names: readonly string[]): Promise<void> {
  for (const name of names)
    await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
  for (const name of names)
    await environment.until(Hikawa, { namespace: "default", name }, isFinished, patience);
}

test("all workloads of the overlay become ready", untilAllAreReady);

test("pods meet the restricted standard, each with its own service account", async () => {
  const pods = (await environment.client.list(Pod, namespace)).items;
  const accounts = pods.map(({ spec }) => spec.serviceAccountName).filter((name) => name !== "default");
  expect(new Set(accounts).size).toBeGreaterThan(3);
  for (const { spec } of pods)
    expect(spec.containers.map(({ securityContext }) => securityContext)).toEqual([
      expect.objectContaining({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false }),
    ]);
});

test("a Hikawa sings until Kiyoshi", async () => {
  await sing(["alone"]);
  await expectFinishedSongs(environment, ["alone"]);
});

describe("every song ends correctly", () => {
  test("while pods of workers and of the bridge are killed", async () => {
    await environment.client.mergePatch(
      Deployment,
      { namespace, name: "denrei-hikawa" },
      { spec: { replicas: 3 } },
      { fieldManager: "test" },
    );
    await untilAllAreReady();
    const names = Array.from({ length: 60 }, (_, i) => `killed-${i}`);
    let going = true;
    const ended = sing(names).finally(() => {
      going = false;
    });
    const next = random(Number(process.env.DENREI_SEED ?? 1));
    const killed = new Set<string>();
    while (going) {
      const running = [...(await podsOf("worker")), ...(await podsOf("bridge"))].filter(
        ({ metadata, status }) =>
          /^denrei-(hikawa|bridge)-/.test(metadata.name) && status?.containerStatuses?.[0]?.ready === true,
      );
      const victim = running[Math.floor(next() * running.length)];
      if (victim === undefined || !going) continue;
      await killPod(victim);
      killed.add(victim.metadata.name);
      await Promise.race([ended, untilAllAreReady()]);
    }
    await ended;
    expect(killed.size).toBeGreaterThan(2);
    await expectFinishedSongs(environment, names);
  });

  test("while the pod of the bus is killed", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `cut-off-${i}`);
    const ended = sing(names);
    await environment.until(
      Hikawa,
      { namespace: "default", name: names[0] as string },
      ({ status }) => !!status,
    );
    const [nats] = await podsOf("bus");
    expect(nats).toBeDefined();
    await killPod(nats as Stored<PodObject>);
    await ended;
    await expectFinishedSongs(environment, names);
  });
});

test("the node's port accepts only signed webhooks", async () => {
  const url = "http://10.245.0.1:30080/github/app";
  const webhook = hookOf("push", push("kaitoy/zundoko", "main"));
  expect(await post(url, webhook)).toBe(202);
  const forged = { ...webhook.headers, "x-hub-signature-256": signatureOf(webhook.body, "forged") };
  expect(await post(url, { ...webhook, headers: forged })).toBe(401);
});
