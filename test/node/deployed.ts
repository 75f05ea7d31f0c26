/** A cluster of one real node with the images of the product, and the overlay for kind deployed on it. */
import { execFile } from "node:child_process";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { kubeClient } from "../../bus/kube/client.ts";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { obtainBinaries, versions } from "../../deploy/local/index.ts";
import { type NodeCluster, startNodeCluster } from "../../deploy/local/node/cluster.ts";
import { makeProgramImage } from "../../deploy/local/node/images.ts";
import { apply } from "../deploy/apply.ts";
import { type Manifest, root } from "../deploy/manifests.ts";
import { productImageVariable } from "./image.ts";
import { renderOverlay, withoutDns } from "./overlay.ts";

/** A cluster without the product. */
export interface Prepared {
  readonly cluster: NodeCluster;
  readonly connection: KubeConnection;
  stop(): Promise<void>;
}

/** The cluster with the deployed product. */
export interface Deployed extends Prepared {
  readonly objects: readonly Manifest[];
}

const dataUser = 65532;

/** Starts the cluster, and imports the images. */
export async function prepare(say: (line: string) => void): Promise<Prepared> {
  const cluster = await startNodeCluster(say);
  try {
    await bringImages(cluster);
    say("images imported");
    const connection = await openConnection(loadKubeconfig({ path: cluster.kubeconfigPath }));
    return {
      cluster,
      connection,
      async stop() {
        await connection.close();
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/**
 * Starts the cluster and applies the overlay through the API, like `kubectl apply -k`, but in steps. Resolves before the pods are
 * ready.
 */
export async function deploy(say: (line: string) => void): Promise<Deployed> {
  const objects = withoutDigests(withoutDns(await renderOverlay()));
  const prepared = await prepare(say);
  try {
    const { cluster, connection } = prepared;
    await applyAll(connection, [...objects, ...(await secrets()), await volume(cluster)]);
    say("manifests applied");
    return { ...prepared, objects };
  } catch (error) {
    await prepared.stop();
    throw error;
  }
}

/** The images are built locally, so they have other digests than the manifests. */
export const withoutDigests = (objects: readonly Manifest[]): Manifest[] =>
  JSON.parse(JSON.stringify(objects).replaceAll(/@sha256:[0-9a-f]{64}/g, ""));

async function bringImages(cluster: NodeCluster): Promise<void> {
  const folder = join(cluster.directory, "images");
  const { "nats-server": nats } = await obtainBinaries(["nats-server"]);
  const images = {
    product: process.env[productImageVariable] ?? "",
    nats: join(folder, "nats.tar"),
  };
  await makeProgramImage(images.nats, `docker.io/library/nats:${versions["nats-server"]}-alpine`, nats.path);
  for (const archive of Object.values(images)) await cluster.importImage(archive);
}

/** The certificates of the bus, and the secret of a webhook. */
async function secrets(): Promise<Manifest[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["bus/command/main.ts", "certificates", "--json"],
    { cwd: root, maxBuffer: 1 << 26 },
  );
  const webhooks = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "denrei-webhook-secrets", namespace: "denrei" },
    stringData: { "github.app": "it is a secret to everybody" },
  };
  return [...(JSON.parse(stdout).items as Manifest[]), webhooks];
}

/** The only volume of the cluster. Usual clusters have a provisioner. */
export async function volume(cluster: NodeCluster): Promise<Manifest> {
  const path = join(cluster.directory, "volume");
  await mkdir(path);
  await chown(path, dataUser, dataUser);
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "nats" },
    spec: { capacity: { storage: "10Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path } },
  } as Manifest;
}

async function applyAll(connection: KubeConnection, objects: readonly Manifest[]): Promise<void> {
  const isCrd = ({ kind }: Manifest) => kind === "CustomResourceDefinition";
  const order = (object: Manifest) =>
    ["Namespace", "ServiceAccount", "Secret", "ConfigMap"].indexOf(object.kind);
  const rank = (object: Manifest) => (order(object) === -1 ? 9 : order(object));
  await installCrds(kubeClient(connection), objects.filter(isCrd) as object[] as Record<string, unknown>[], {
    fieldManager: "test",
    signal: AbortSignal.timeout(60_000),
  });
  for (const object of objects.filter((one) => !isCrd(one)).toSorted((a, b) => rank(a) - rank(b))) {
    const { status, message } = await apply(connection, object, "for-real");
    if (status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${status} ${message}`);
  }
}
