/**
 * One control plane for all test files that run in a process, one after the other. The first file that needs it starts it. It is reset
 * after each file and ends with the process.
 */
import type { KubeClient } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { kpackCrds } from "../../deploy/simulators/kpack/crds.ts";
import { clientId } from "../../deploy/simulators/login/issuer.ts";
import { type ClusterState, clusterState, resetCluster } from "./clusterreset.ts";
import { type IssuerSite, issuerSite } from "./issuersite.ts";
import { testFunctions } from "./roles.ts";

/** The control plane while a file uses it. */
export interface LentCluster
  extends Pick<LocalPlatform, "kubeconfigPath" | "kubeconfigFor" | "auditLogPath"> {
  /** The file that kwok serves as the log of every container. */
  readonly podLogsPath: string;
  /** The issuer that the API server trusts. */
  readonly issuer: IssuerSite;
  /** Deletes everything that the file has left in the cluster, and releases it to the next file. */
  release(): Promise<void>;
}

interface SharedCluster {
  readonly platform: LocalPlatform;
  readonly client: KubeClient;
  readonly state: ClusterState;
  readonly issuer: IssuerSite;
}

let shared: Promise<SharedCluster> | undefined;
let isLent = false;

/** Lends the cluster, with a node and every CRD; undefined while a file uses it. */
export async function lendCluster(): Promise<LentCluster | undefined> {
  if (isLent) return undefined;
  isLent = true;
  shared ??= startShared();
  const { platform, client, state, issuer } = await shared.catch((error: unknown) => {
    shared = undefined;
    isLent = false;
    throw error;
  });
  return {
    kubeconfigPath: platform.kubeconfigPath,
    kubeconfigFor: platform.kubeconfigFor,
    auditLogPath: platform.auditLogPath,
    podLogsPath: platform.nodes?.kwok.podLogsPath ?? "",
    issuer,
    async release() {
      try {
        await resetCluster(client, state);
      } catch (error) {
        // The next file gets a new cluster.
        shared = undefined;
        await platform.stop();
        throw error;
      } finally {
        isLent = false;
      }
    },
  };
}

async function startShared(): Promise<SharedCluster> {
  let site: IssuerSite | undefined;
  const platform = await startLocalPlatform({
    roles: [],
    nodes: 1,
    audited: true,
    ownersProtected: true,
    async identities(environment) {
      site = await issuerSite(environment);
      return { url: site.url, audiences: [clientId] };
    },
    async prepare(path) {
      const client = await connectCluster({ path });
      const crds = [...crdManifests(testFunctions), ...kpackCrds];
      await installCrds(client, crds, { fieldManager: "test", signal: AbortSignal.timeout(60_000) });
      await client.connection.close();
    },
  });
  if (site === undefined) throw new Error("the cluster has no site for the issuer");
  const client = await connectCluster({ path: platform.kubeconfigPath });
  return { platform, client, state: await clusterState(client), issuer: site };
}
