/**
 * Runs the processes of a test with the accounts they have in a cluster, with exactly the generated rights: also functions that share
 * a process have only their own. In an existing cluster, where tests create no accounts, they run as its administrator.
 */
import type { KubeClient } from "../../bus/kube/client.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { gatewayName, optInManifests, roleManifests, separateAccounts } from "../../deploy/generate/rbac.ts";
import { functions } from "../../functions/index.ts";
import { type AuditedRequest, auditedRequests } from "./audit.ts";
import type { TestEnvironment } from "./environment.ts";
import { optIn } from "./namespaces.ts";
import type { ClusterPlatform } from "./platforms.ts";
import { accountUser, grant } from "./rights.ts";

/** The accounts of a test. */
export interface Accounts {
  /** The environment of a bridge, a gateway, or a worker with these functions. */
  env(process: "bridge" | "gateway" | readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Opts a namespace in: creates the role bindings first, then sets the label. */
  optIn(namespace: string): Promise<void>;
  /** Requests of these accounts so far. Throws when the API server is not audited. */
  asked(): Promise<AuditedRequest[]>;
  /**
   * Throws when an account was denied a request for lack of rights. Ignored are Secrets of namespaces that are not (or no longer) opted
   * in, and the resources in `lacking`.
   */
  assertEnough(lacking?: readonly string[]): Promise<void>;
}

/** Every process is the administrator, who is denied nothing. */
export const administrators = (client: KubeClient): Accounts => ({
  env: async () => ({}),
  optIn: (namespace) => optIn(client, namespace),
  asked: async () => [],
  assertEnough: async () => undefined,
});

/** Creates the accounts of the functions and of the bridge. The platform's namespace must exist. */
export async function openAccounts(
  { client, platform, origin }: TestEnvironment,
  ours: readonly (typeof functions)[number][],
  platformNamespace: string,
): Promise<Accounts> {
  if (origin === "existing") return administrators(client);
  const { kubeconfigFor } = platform as ClusterPlatform;
  await grant(client, roleManifests(separateAccounts(ours, functions), platformNamespace));
  let gateway: Promise<string> | undefined;
  const optedIn = new Set([platformNamespace]);
  const asked = () => auditedRequests(platform as ClusterPlatform);
  return {
    async env(process) {
      if (process !== "gateway") return { DENREI_IMPERSONATE_NAMESPACE: platformNamespace };
      // Written once: other gateways may be reading it.
      gateway ??= kubeconfigFor(accountUser(gatewayName));
      return { KUBECONFIG: await gateway };
    },
    async optIn(namespace) {
      await grant(client, optInManifests(separateAccounts(ours), [namespace], platformNamespace));
      await optIn(client, namespace);
      optedIn.add(namespace);
    },
    asked,
    async assertEnough(lacking = []) {
      // Deleting a binding revokes the rights of its namespace.
      const { items } = await client.list(Namespace);
      const readable = new Set(
        items.map(({ metadata }) => metadata.name).filter((name) => optedIn.has(name)),
      );
      const isDue = ({ right, namespace = "" }: AuditedRequest) =>
        (/ secrets$/.test(right) && !readable.has(namespace)) ||
        lacking.some((resource) => right.endsWith(` ${resource}`));
      const refused = (await asked()).filter((one) => one.refused === "right" && !isDue(one));
      const lines = new Set(refused.map(({ user, right, path }) => `${user}: ${right} (${path})`));
      if (lines.size === 0) return;
      throw new Error(
        `processes lack rights they need; the API server denied:\n${[...lines].join("\n")}\n` +
          "Declare the needed kinds in the function (owns, watches, permissions), then run npm run generate.",
      );
    },
  };
}
