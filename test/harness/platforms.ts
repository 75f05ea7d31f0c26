/** Where the parts of a test run: its own bus, and a cluster that is shared, its own, or named by the environment variable. */
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

/** Names the kubeconfig of a cluster that tests use instead of starting one. */
export const clusterVariable = "DENREI_TEST_KUBECONFIG";

await programs(...(process.env[clusterVariable] ? (["nats-server"] as const) : platformPrograms));

/** A bus, and an administrator's kubeconfig. */
export interface TestPlatform extends LocalNats {
  readonly kubeconfigPath: string;
}

/** A local cluster whose users a test can choose. */
export interface ClusterPlatform extends TestPlatform, Pick<LocalPlatform, "kubeconfigFor" | "auditLogPath"> {
  /** The size of the audit log before the test. Bytes. */
  readonly auditLogStart: number;
  /** The file that kwok serves as the log of every container; undefined without nodes. */
  readonly podLogsPath: string | undefined;
  /** The issuer that the API server trusts; undefined without one. */
  readonly issuer: IssuerSite | undefined;
}

/** A control plane for one test file, which can stop it. */
export interface OwnPlatform extends ClusterPlatform, LocalPlatform {}

/** Where the cluster comes from. */
export type Origin = "local" | "existing";

/** Options of a control plane for one test file. */
export type OwnPlatformOptions = Pick<
  LocalPlatformOptions,
  "nodes" | "storage" | "controllerManager" | "prepare" | "audited" | "ownersProtected"
> & {
  /** Makes the API server trust an issuer, and prefixes the issuer's user names. */
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
export async function ownPlatform({ issuer, ...options }: OwnPlatformOptions): Promise<OwnPlatform> {
  refuseExisting();
  let site: IssuerSite | undefined;
  const platform = await startLocalPlatform({
    ...options,
    controllerManager: options.controllerManager ?? "omit",
    roles: testRoles(),
    ...(issuer && {
      async identities(environment) {
        site = await issuerSite(environment);
        return { url: site.url, audiences: [clientId], ...issuer };
      },
    }),
  });
  return { ...platform, auditLogStart: 0, podLogsPath: platform.nodes?.kwok.podLogsPath, issuer: site };
}

/**
 * Starts a bus for this test, next to the control plane that the test files of a process share. Returns undefined while another environment has it.
 * Throws when the environment names a cluster.
 */
export async function localPlatform(): Promise<ClusterPlatform | undefined> {
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

/** Starts a bus for the cluster that the environment names; returns undefined when it names none. */
export async function existingPlatform(): Promise<TestPlatform | undefined> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return undefined;
  const nats = await startLocalNats({ roles: testRoles() });
  return { ...nats, kubeconfigPath: resolve(kubeconfig) };
}

/** The cluster of a test with KET: a new one, or the one that the environment names. */
export async function testCluster(): Promise<Pick<KetOptions, "cluster" | "kubeconfig" | "allowContexts">> {
  const kubeconfig = process.env[clusterVariable];
  if (!kubeconfig) return { cluster: "local" };
  // Setting the variable allows the context.
  const { context } = await loadKubeconfig({ path: kubeconfig }).read("cached");
  return { cluster: "existing", kubeconfig, allowContexts: [context] };
}
