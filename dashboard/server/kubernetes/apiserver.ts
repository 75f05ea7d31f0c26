/** Client of the API server that uses the user's token. */
import { type KubeconfigSource, loadKubeconfig } from "denrei/kubernetes";
import { Agent, type Dispatcher, ProxyAgent, request } from "undici";

/** A request on behalf of a user. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Including the query. */
  readonly path: string;
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** `endless` for watches and followed logs. */
  readonly lasts: "short" | "endless";
}

/** The client. */
export interface ApiServer {
  readonly server: string;
  request(request: ApiRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

const headersMillis = 30_000;

/** Reads the address and the CA certificate from a kubeconfig or the pod's service account. Never uses credentials from there. */
export async function openApiServer(source: KubeconfigSource): Promise<ApiServer> {
  const { server, proxy, tls } = await loadKubeconfig(source).read("cached");
  const { ca, rejectUnauthorized, servername } = tls;
  const connect = {
    ...(ca !== undefined && { ca }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    ...(servername !== undefined && { servername }),
  };
  const dispatcher =
    proxy === undefined
      ? new Agent({ connect: { ...connect, timeout: 10_000 }, keepAliveTimeout: 60_000, allowH2: false })
      : new ProxyAgent({ uri: proxy, requestTls: connect });
  return {
    server,
    request: ({ method, path, token, headers, body, signal, lasts }) =>
      request(`${server}${path}`, {
        method,
        dispatcher,
        headers: { ...headers, authorization: `Bearer ${token}` },
        body: body ?? null,
        signal,
        headersTimeout: headersMillis,
        bodyTimeout: lasts === "endless" ? 0 : headersMillis,
      }),
    close: () => dispatcher.destroy(),
  };
}
