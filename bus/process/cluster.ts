/** The first contact with a cluster: either it works, or whoever started the process learns why not. */
import { type CallObserver, type KubeClient, kubeClient } from "../kube/client.ts";
import { type KubeconfigSource, loadKubeconfig, openConnection } from "../kube/connection.ts";
import { ApiError, ApiUnreachableError, isDistrust } from "../kube/errors.ts";

/** How long the API server may take for its first answer, in milliseconds. */
const firstAnswerMillis = 15_000;

/**
 * Connects and asks for the server's version. Throws `KubeconfigError` when there is no usable configuration,
 * `ApiUnreachableError` when nobody that the configuration trusts answers, and `ApiError` when the server does not
 * know the user, `CredentialsError` when a plugin gives none. What the user may do is not asked: that shows where it is done.
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

/** What went wrong, and what to do about it. */
function reason(error: unknown): string {
  if ((error as Error).name === "TimeoutError") {
    return `it did not answer within ${firstAnswerMillis / 1000} s. Is it the right address, and is there a firewall?`;
  }
  const { code, message } = (((error as Error).cause as Error | undefined) ?? error) as NodeJS.ErrnoException;
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate has expired (CERT_HAS_EXPIRED). Renew the API server's certificate, or set this machine's clock.";
  }
  if (code?.includes("ALERT")) {
    return `it refuses our certificate (${message}). Renew the client certificate of the kubeconfig's user.`;
  }
  if (isDistrust({ code })) {
    return (
      `its certificate is not trusted (${code}). ` +
      "certificate-authority-data of the kubeconfig's cluster must be of the authority that signed it, " +
      "and its server one of the names in it."
    );
  }
  return `${message || code}. Is it running, and is it the cluster you mean? --context and --kubeconfig name another.`;
}
