/** An existing cluster. Others may use it, so its context must be allowed by name. */
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { startLocalNats } from "@denrei/cli/local/index";
import { busRoles } from "denrei/bus";
import { kindText } from "denrei/kinds";
import { connectCluster } from "denrei/kubernetes";
import type { ReconcileFunction } from "denrei/runtime";
import { install } from "./crds.ts";
import type { KetEnvironment, KetEnvironmentOptions } from "./environment.ts";
import type { KetOptions } from "./options.ts";

/** The run may not use the cluster. It sent no request. */
export class ContextRefusedError extends Error {
  override readonly name = "ContextRefusedError";
}

/** Uses the cluster of a kubeconfig's current context, and starts a bus next to it. Throws {@link ContextRefusedError}. */
export async function existingEnvironment({
  options,
  functions,
  subscriptions,
  crds,
}: KetEnvironmentOptions): Promise<KetEnvironment> {
  const kubeconfig = await allowedConfig(options);
  if (!options.allowClusterScoped) expectNamespaced(functions);
  const platform = await startLocalNats({ roles: busRoles(subscriptions, "default") });
  try {
    // A copy with that context only: the user may switch contexts while the tests run.
    const kubeconfigPath = join(platform.directory, "kubeconfig");
    await writeFile(kubeconfigPath, kubeconfig, { mode: 0o600 });
    const client = await connectCluster({ path: kubeconfigPath });
    try {
      await install(client, crds);
    } finally {
      await client.connection.close();
    }
    return { platform, kubeconfigPath, owned: "part", stop: () => platform.stop() };
  } catch (error) {
    await platform.stop();
    throw error;
  }
}

/** The functions would also reconcile cluster-scoped objects of others, and leave finalizers on them. */
function expectNamespaced(functions: readonly ReconcileFunction[]): void {
  const wide = functions.filter((fn) => fn.for.scope === "Cluster");
  if (wide.length === 0) return;
  throw new ContextRefusedError(
    "expected functions whose objects are in namespaces, as others use the cluster as well, found " +
      `${wide.map((fn) => `${fn.name} (for ${kindText(fn.for)})`).join(", ")}, which would reconcile every such object ` +
      'there. Use the cluster "local", or set allowClusterScoped if all of them are yours.',
  );
}

/** The kubeconfig, if its current context is allowed. Sends no request and runs no plugin. */
async function allowedConfig({
  kubeconfig = process.env.KUBECONFIG,
  allowContexts = [],
}: KetOptions): Promise<string> {
  if (!kubeconfig)
    throw new ContextRefusedError(
      "expected KUBECONFIG, or the option kubeconfig, to name the existing cluster, found neither. " +
        'Set it, or use the cluster "local".',
    );
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  for (const [at, path] of kubeconfig.split(delimiter).filter(Boolean).entries()) {
    const read = new KubeConfig();
    read.loadFromFile(path);
    if (at === 0) config.loadFromOptions(read);
    else config.mergeConfig(read);
  }
  const name = config.getCurrentContext();
  const context = config.getContextObject(name);
  const server = config.getCurrentCluster()?.server;
  if (!name || !context)
    throw new ContextRefusedError(
      `expected a current context in ${kubeconfig}, found ${JSON.stringify(name)}`,
    );
  if (!allowContexts.includes(name))
    throw new ContextRefusedError(
      `expected a context that tests may write to (allowContexts: ${allowContexts.join(", ") || "none"}), found ` +
        `"${name}" (${server}) in ${kubeconfig}. Add it to allowContexts, or choose another one: kubectl config use-context <name>.`,
    );
  const alone = new KubeConfig();
  alone.loadFromOptions({
    clusters: config.clusters.filter((one) => one.name === context.cluster),
    users: config.users.filter((one) => one.name === context.user),
    contexts: [context],
    currentContext: name,
  });
  return alone.exportConfig();
}
