/** A control plane for one run. */
import { startLocalPlatform } from "@denrei/cli/local/index";
import { busRoles } from "denrei/bus";
import { connectCluster } from "denrei/kubernetes";
import { install } from "./crds.ts";
import type { KetEnvironment, KetEnvironmentOptions } from "./environment.ts";

/** Starts the embedded platform. CRDs come before the controllers, which start to collect garbage of later kinds only after a while. */
export async function localEnvironment({
  subscriptions,
  crds,
  options,
}: KetEnvironmentOptions): Promise<KetEnvironment> {
  const platform = await startLocalPlatform({
    controllerManager: options.controllerManager,
    nodes: options.nodes,
    // Some clusters enforce this, so that a missing permission shows here as well.
    ownersProtected: options.rights !== "own",
    roles: busRoles(subscriptions, "default"),
    async prepare(path) {
      const client = await connectCluster({ path });
      try {
        await install(client, crds);
      } finally {
        await client.connection.close();
      }
    },
  });
  return { platform, kubeconfigPath: platform.kubeconfigPath, owned: "all", stop: () => platform.stop() };
}
