/** The ground of a kit: its own bus, and a cluster. The cluster is shared, its own, or the one that the environment names. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { loadKubeconfig } from "../../bus/kube/kubeconfig.ts";
import {
  type LocalNats,
  type LocalPlatform,
  type LocalPlatformOptions,
  startLocalNats,
  startLocalPlatform,
} from "../../deploy/local/index.ts";
import { clientId } from "../../deploy/simulators/login/issuer.ts";
import type { KetOptions } from "../ket/index.ts";
import { type IssuerSite, issuerSite } from "./issuersite.ts";
import { platformPrograms, programs } from "./programs.ts";
import { testRoles } from "./roles.ts";
import { lendCluster } from "./sharedcluster.ts";

/** Path of the kubeconfig of a cluster that tests are to use instead of starting one. */
export const clusterVariable = "DENREI_TEST_KUBECONFIG";

await programs(...(process.env[clusterVariable] ? (["nats-server"] as const) : platformPrograms));

/** A bus, and an administrator's kubeconfig. */
export interface KitPlatform extends LocalNats {
  readonly kubeconfigPath: string;
}

/** A local cluster whose users a test can choose. */
export interface ClusterPlatform extends KitPlatform, Pick<LocalPlatform, "kubeconfigFor" | "auditLogPath"> {
  /** How much of the audit log is from before the test. Bytes. */
  readonly auditLogStart: number;
  /** The file that kwok serves as the log of every container; undefined where there are no nodes. */
  readonly podLogsPath: string | undefined;
  /** Where the API server looks for the issuer of its users; undefined where it trusts none. */
  readonly issuer: IssuerSite | undefined;
}

/** A control plane that belongs to one test file, which can stop it. */
export interface OwnPlatform extends ClusterPlatform, LocalPlatform {}

/** Whose the cluster is. */
export type Origin = "local" | "existing";

/** How to start a control plane for one test file. */
export type OwnGroundOptions = Pick<
  LocalPlatformOptions,
  "nodes" | "storage" | "controllerManager" | "prepare" | "audited" | "ownersProtected"
> & {
  /** Whether the API server trusts an issuer, and the prefix that it puts before the issuer's user names. */
  readonly issuer?: { readonly usernamePrefix: string };
};

function refuseExisting(): void {
  const kubeconfig = process.env[clusterVariable];
  if (kubeconfig)
    throw new Error(
      `expected to start a control plane, which this test needs to itself, but ${clusterVariable} names an existing ` +
        `cluster (${kubeconfig}). Run this test without the variable.`,
    );
}

/** Starts a control plane for this test alone. Throws when the environment names a cluster. */
export async function ownGround({ issuer, ...options }: OwnGroundOptions): Promise<OwnPlatform> {
  refuseExisting();
  let site: IssuerSite | undefined;
  const platform = await startLocalPlatform({
    ...options,
    controllerManager: options.controllerManager ?? "omit",
    roles: testRoles(),
    ...(issuer && {
      async identities(ground) {
        site = await issuerSite(ground);
        return { url: site.url, audiences: [clientId], ...issuer };
      },
    }),
  });
  return { ...platform, auditLogStart: 0, podLogsPath: platform.nodes?.kwok.podLogsPath, issuer: site };
}

/**
 * A bus for this test, beside the control plane that the test files of a process share; undefined while that is lent already.
 * Throws when the environment names a cluster.
 */
export async function localGround(): Promise<ClusterPlatform | undefined> {
  refuseExisting();
  const cluster = await lendCluster();
  if (cluster === undefined) return undefined;
  const { release, ...access } = cluster;
  try {
    const nats = await startLocalNats({ roles: testRoles() });
    const auditLogStart = await stat(access.auditLogPath ?? "").then(({ size }) => size);
    return {
      ...nats,
      ...access,
      auditLogStart,
      async stop() {
        await nats.stop();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A bus beside the cluster that the environment names; undefined when it names none. */
export async function existingGround(): Promise<KitPlatform | undefined> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return undefined;
  const nats = await startLocalNats({ roles: testRoles() });
  return { ...nats, kubeconfigPath: resolve(kubeconfig) };
}

/** The cluster of a test with KET: its own, or the one that the environment names. */
export async function testCluster(): Promise<Pick<KetOptions, "cluster" | "kubeconfig" | "allowContexts">> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return { cluster: "local" };
  // Naming it in the variable allows it.
  const { context } = await loadKubeconfig({ path: kubeconfig }).read("cached");
  return { cluster: "existing", kubeconfig, allowContexts: [context] };
}
