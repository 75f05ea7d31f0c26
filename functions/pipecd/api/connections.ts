/** Connections to control planes: one per server, shared by all reconciles of a worker. */
import { createHash } from "node:crypto";
import { ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Recent } from "denrei";
import { broken } from "./codes.ts";
import { openSession, type Session } from "./session.ts";

/** Address and TLS settings of a server. */
export interface Endpoint {
  /** `host:port`. */
  readonly address: string;
  /** Undefined for plain text. `ca` is PEM text; without it, the system's authorities are trusted. */
  readonly tls: { readonly ca: string | undefined } | undefined;
  /** Identifies the server and its pods: a new revision closes connections to older pods. */
  readonly server?: { readonly id: string; readonly revision: string | undefined };
}

/** Timeout of a call. The server's own timeout for its stores is ten seconds. Milliseconds. */
const deadlineMillis = 15_000;
/** Idle time after which a connection is closed. Milliseconds. */
const idleMillis = 60_000;

const sessions = new Recent<Session>({ keptMillis: 3_600_000, limit: 500 });

/** Idempotent methods. */
const repeatable = /^(List|Get|Update|Enable|Disable|Delete)/;

/**
 * Retries an idempotent call once, because the server may have just closed the reused connection. Calls that create something are
 * not retried, because the first attempt may have succeeded.
 */
const again: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    const isRepeatable = repeatable.test(request.method.name) && !request.signal.aborted;
    if (!isRepeatable || !broken.includes(ConnectError.from(error).code)) throw error;
    return next(request);
  }
};

/** A transport on the shared connection to a server. Calls of all transports to a server use the newest revision. */
export function transportTo({ address, tls, server }: Endpoint, credentials: Interceptor): Transport {
  const baseUrl = `${tls === undefined ? "http" : "https"}://${address}`;
  const ca = tls?.ca;
  const name = `${baseUrl} ${server?.id ?? ""} ${createHash("sha256")
    .update(ca ?? "")
    .digest("hex")}`;
  let session = sessions.get(name);
  if (session === undefined) {
    const options = ca === undefined ? undefined : { ca };
    // No pings: the server closes connections with frequent ones.
    const open = () => new Http2SessionManager(baseUrl, { idleConnectionTimeoutMs: idleMillis }, options);
    session = openSession({ open });
    sessions.set(name, session);
  }
  session.renew(server?.revision);
  return createGrpcTransport({
    baseUrl,
    sessionManager: session,
    defaultTimeoutMs: deadlineMillis,
    interceptors: [again, credentials],
  });
}
