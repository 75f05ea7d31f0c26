/** `denrei manifests --profile small | kubectl apply -f -` on real pods. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { obtainBinaries } from "../../deploy/local/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { isWorkload, type Manifest } from "../deploy/manifests.ts";
import { printed } from "../deploy/projects.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { clusterVariable } from "../harness/platforms.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { type Prepared, prepare, volume, withoutDigests } from "./deployed.ts";
import { withoutDns } from "./overlay.ts";

interface ScaledStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
}
type Scaled = KubeObject<{ replicas: number }, ScaledStatus>;

const apps = { group: "apps", version: "v1" } as const;
const kinds = [
  externalKind<Scaled>({ ...apps, kind: "Deployment", plural: "deployments" }),
  externalKind<Scaled>({ ...apps, kind: "StatefulSet", plural: "statefulsets" }),
];
const patience = 240_000;

let prepared: Prepared;
let environment: TestEnvironment;

beforeAll(async () => {
  prepared = await prepare((line) => console.log(line));
  process.env[clusterVariable] = prepared.cluster.kubeconfigPath;
  environment = await startTestEnvironment({ crds: [] });
}, 600_000);
afterAll(async () => {
  await environment?.stop();
  await prepared?.stop();
});

async function kubectl(args: readonly string[], input = ""): Promise<void> {
  const { kubectl: program } = await obtainBinaries(["kubectl"]);
  const all = ["--kubeconfig", prepared.cluster.kubeconfigPath, ...args];
  const running = promisify(execFile)(program.path, all);
  running.child.stdin?.end(input);
  await running;
}

const kubectlApply = (objects: readonly object[]): Promise<void> =>
  kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));

/** All pods are ready, and of the applied version. */
const isRolledOut = ({ metadata, spec: { replicas }, status = {} }: Stored<Scaled>): boolean =>
  status.observedGeneration === metadata.generation &&
  [status.replicas, status.updatedReplicas, status.readyReplicas].every((count) => count === replicas);

async function untilReady(objects: readonly Manifest[]): Promise<void> {
  for (const { kind, metadata } of objects.filter(isWorkload)) {
    const scaled = kinds.find((one) => one.kind === kind);
    if (scaled === undefined) throw new Error(`unexpected ${kind}`);
    const at = { namespace: "denrei", name: metadata.name };
    await environment.until(scaled, at, isRolledOut, patience);
  }
}

async function sing(name: string): Promise<void> {
  await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
  await environment.until(Hikawa, { namespace: "default", name }, isFinished, patience);
  await expectFinishedSongs(environment, [name]);
}

const small = async (...args: string[]): Promise<Manifest[]> => {
  const env = { DENREI_COMPONENTS: "zundoko" };
  return withoutDigests(withoutDns(await printed(["--profile", "small", ...args], { env })));
};

test("one kubectl apply of the small profile starts all pods, and a Hikawa sings until Kiyoshi", async () => {
  const objects = await small();
  expect(objects.filter(isWorkload)).toHaveLength(3);
  await kubectlApply([await volume(prepared.cluster)]);
  await kubectlApply(objects);
  await untilReady(objects);
  await sing("small");
});

test("a second kubectl apply, with new certificates, replaces the pods without losing the bus", async () => {
  const objects = await small();
  await kubectlApply(objects);
  await untilReady(objects);
  await sing("again");
});

test("with --one-process, one pod does the work of all others", async () => {
  const objects = await small("--one-process");
  expect(objects.filter(isWorkload)).toHaveLength(2);
  await kubectl(["delete", "deployments", "--namespace=denrei", "--all"]);
  await kubectlApply(objects);
  await untilReady(objects);
  await sing("alone");
});
