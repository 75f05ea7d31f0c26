/** What a kit stands on: a bus of its own, and a cluster of its own or the one that the environment names. */
import { resolve } from "node:path";
import { loadKubeconfig } from "../../bus/kube/kubeconfig.ts";
import {
  type LocalNats,
  type LocalPlatform,
  type LocalPlatformOptions,
  startLocalNats,
  startLocalPlatform,
} from "../../deploy/local/index.ts";
import type { KetOptions } from "./ket/index.ts";
import { testRoles } from "./roles.ts";

/** Path of the kubeconfig of a cluster that tests are to use instead of starting one. */
export const clusterVariable = "DENREI_TEST_KUBECONFIG";

/** What there is in any case. */
export interface KitPlatform extends LocalNats {
  /** An administrator's kubeconfig. */
  readonly kubeconfigPath: string;
}

/** Whose the cluster is. */
export type Origin = "local" | "existing";

/** How to start. In an existing cluster the controllers and nodes are those that it has. */
export type GroundOptions = Pick<
  LocalPlatformOptions,
  "nodes" | "storage" | "controllerManager" | "prepare" | "audited" | "ownersProtected" | "identities"
>;

/** A platform whose control plane is the test's own. Throws when the environment names a cluster: it is not for this. */
export async function localGround(options: GroundOptions): Promise<LocalPlatform> {
  const kubeconfig = process.env[clusterVariable];
  if (kubeconfig) {
    throw new Error(
      `expected to start a control plane, which this test needs to itself, but ${clusterVariable} names an existing ` +
        `cluster (${kubeconfig}). Run this test without the variable.`,
    );
  }
  return startLocalPlatform({
    ...options,
    controllerManager: options.controllerManager ?? "omit",
    roles: testRoles(),
  });
}

/** A platform of the test's own, or a bus beside the cluster that the environment names. */
export async function ground(
  options: GroundOptions,
): Promise<{ readonly origin: Origin; readonly platform: KitPlatform }> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return { origin: "local", platform: await localGround(options) };
  const nats = await startLocalNats({ roles: testRoles(), storage: options.storage });
  return { origin: "existing", platform: { ...nats, kubeconfigPath: resolve(kubeconfig) } };
}

/** The cluster of a test with KET: its own, or the one that the environment names. */
export async function testCluster(): Promise<Pick<KetOptions, "cluster" | "kubeconfig" | "allowContexts">> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return { cluster: "local" };
  // Naming it in the variable allows it.
  const { context } = await loadKubeconfig({ path: kubeconfig }).read("cached");
  return { cluster: "existing", kubeconfig, allowContexts: [context] };
}
