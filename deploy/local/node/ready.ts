/** Readiness of the node. */
import { connectCluster } from "denrei/kubernetes";
import { Node } from "../nodes.ts";
import { poll } from "../run/poll.ts";

/** The only node. */
export const nodeName = "node-1";

/** Waits until kubelet reports the node ready, including its network. */
export async function untilNodeIsReady(kubeconfigPath: string): Promise<void> {
  const client = await connectCluster({ path: kubeconfigPath });
  try {
    const expectNodeReady = async () => {
      const { status } = await client.get(Node, { name: nodeName });
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") throw new Error(ready?.message ?? "no Ready condition");
    };
    await poll(`${nodeName} to be ready`, expectNodeReady, { timeoutMillis: 120_000, intervalMillis: 100 });
  } finally {
    await client.connection.close();
  }
}
