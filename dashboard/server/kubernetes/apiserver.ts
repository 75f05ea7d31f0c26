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

/** The API server did not answer, or not completely. */
export class NoAnswerError extends Error {
  override readonly name: string = "NoAnswerError";
}

/** The API server is running, but cannot authenticate and authorize users yet: it answers 401 and 403 to everything. */
export class StartingError extends NoAnswerError {
  override readonly name = "StartingError";
}

/** The client. */
export interface ApiServer {
  readonly server: string;
  /** Throws a {@link StartingError} instead of a 401 or 403 that says nothing about the user. */
  request(request: ApiRequest): Promise<Dispatcher.ResponseData>;
  /** Resolves if the API server sends any response in time, and throws otherwise. Sends no credentials. */
  probe(timeoutMillis: number): Promise<void>;
  close(): Promise<void>;
}

const headersMillis = 30_000;
const readyMillis = 2000;
/** Longest start after a failed request. Later, a refusal is taken at its word, because a role may forbid the readiness check. */
const startMillis = 15_000;

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
  const send = ({ method, path, token, headers, body, signal, lasts }: ApiRequest) =>
    request(`${server}${path}`, {
      method,
      dispatcher,
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: body ?? null,
      signal,
      headersTimeout: headersMillis,
      bodyTimeout: lasts === "endless" ? 0 : headersMillis,
    });
  let failedAt = Number.NEGATIVE_INFINITY;

  /** https://kubernetes.io/docs/reference/using-api/health-checks/ */
  async function isReady(token: string): Promise<boolean> {
    const signal = AbortSignal.timeout(readyMillis);
    const { statusCode, body } = await send({
      method: "GET",
      path: "/readyz",
      token,
      signal,
      lasts: "short",
    });
    await body.dump();
    return statusCode === 200;
  }

  return {
    server,
    async request(sent) {
      const response = await send(sent).catch((error: unknown) => {
        if (!sent.signal.aborted) failedAt = performance.now();
        throw error;
      });
      const isRefused = response.statusCode === 401 || response.statusCode === 403;
      const mayBeStarting = isRefused && performance.now() - failedAt < startMillis;
      if (!mayBeStarting || (await isReady(sent.token))) return response;
      await response.body.dump();
      throw new StartingError(`${sent.method} ${sent.path}: status ${response.statusCode} during the start`);
    },
    async probe(timeoutMillis) {
      const signal = AbortSignal.timeout(timeoutMillis);
      const { body } = await request(`${server}/livez`, { dispatcher, signal });
      await body.dump();
    },
    close: () => dispatcher.destroy(),
  };
}
