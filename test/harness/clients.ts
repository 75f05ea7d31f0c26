/** Clients of an API server that requires no credentials, or that does not exist. */
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { openConnection } from "../../bus/kube/connection.ts";

/** Opens a client without credentials. */
export async function clientOf(server: string): Promise<KubeClient> {
  const access = { server, context: "none", namespace: "default", tls: {}, headers: {} };
  return kubeClient(await openConnection({ read: async () => access }));
}

/** Opens a client for workers that need no API server, or that must miss it: every call fails at once with a refused connection. */
export const clientOfNobody = (): Promise<KubeClient> => clientOf("https://127.0.0.1:1");
