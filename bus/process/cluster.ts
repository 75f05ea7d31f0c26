/** The first connection to a cluster, with errors that explain a failure. */
import { type CallObserver, type KubeClient, kubeClient } from "../kube/client.ts";
import { type KubeconfigSource, loadKubeconfig, openConnection } from "../kube/connection.ts";
import { ApiError, ApiUnreachableError, isDistrust } from "../kube/errors.ts";

/** Timeout of the API server's first answer, in milliseconds. */
const firstAnswerMillis = 15_000;

/**
 * Connects and requests the server's version. Throws `KubeconfigError` without a usable configuration,
 * `ApiUnreachableError` if no trusted server answers, `ApiError` if the server rejects the user, and `CredentialsError` if a
 * plugin provides no credentials. Permissions are not checked here: missing ones show where they are needed.
 */
export async function connectCluster(source: KubeconfigSource, observer?: CallObserver): Promise<KubeClient> {
  const connection = await openConnection(loadKubeconfig(source));
  const client = kubeClient(connection, observer);
  try {
    await client.request({ method: "GET", path: "/version", signal: AbortSignal.timeout(firstAnswerMillis) });
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return client;
    await connection.close();
    if (error instanceof ApiError) throw error;
    throw new ApiUnreachableError(
      `expected a Kubernetes API server at ${connection.server} (context "${connection.context}"), but ${reason(error)}`,
      { cause: error },
    );
  }
  return client;
}

/** The cause of a failure, and how to fix it. */
function reason(error: unknown): string {
  if ((error as Error).name === "TimeoutError") {
    return `it did not answer within ${firstAnswerMillis / 1000} s. Check the address, and firewalls in between.`;
  }
  const { code, message } = (((error as Error).cause as Error | undefined) ?? error) as NodeJS.ErrnoException;
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate has expired (CERT_HAS_EXPIRED). Renew the API server's certificate, or set this machine's clock.";
  }
  if (code?.includes("ALERT")) {
    return `it rejects our certificate (${message}). Renew the client certificate of the kubeconfig's user.`;
  }
  if (isDistrust({ code })) {
    return (
      `its certificate is not trusted (${code}). ` +
      "certificate-authority-data of the kubeconfig's cluster must be of the authority that signed it, " +
      "and its server one of the names in it."
    );
  }
  return `${message || code}. Check that it is running and is the cluster you mean; KUBECONFIG, --kubeconfig, and --context select another.`;
}
