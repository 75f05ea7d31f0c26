/** A client whose API server is not there: for workers that need none, or miss it. */
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { openConnection } from "../../bus/kube/connection.ts";

/** Opens it; every call fails at once, with a refused connection. */
export async function clientOfNobody(): Promise<KubeClient> {
  const nowhere = {
    server: "https://127.0.0.1:1",
    context: "none",
    namespace: "default",
    tls: {},
    headers: {},
  };
  return kubeClient(await openConnection({ read: async () => nowhere }));
}
