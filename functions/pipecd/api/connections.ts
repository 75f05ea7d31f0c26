/** Connections to control planes: one for each address, for all reconciles of a worker. */
import { createHash } from "node:crypto";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Recent } from "../../../bus/values/recent.ts";
import { openSession, type Session } from "./session.ts";

/** Where a server listens, and how it is spoken to. */
export interface Endpoint {
  /** `host:port`. */
  readonly address: string;
  /** Undefined for plain text. `ca` is PEM text; without it the system's authorities count. */
  readonly tls: { readonly ca: string | undefined } | undefined;
  /** Whose server it is, and which pods run it: with another revision, connections to the former pods are closed. */
  readonly server?: { readonly id: string; readonly revision: string | undefined };
}

/** What a call may take at most. The server itself gives its stores ten seconds. Milliseconds. */
const deadlineMillis = 15_000;
/** Connections without a call are closed after. Milliseconds. */
const idleMillis = 60_000;

const sessions = new Recent<Session>({ keptMillis: 3_600_000, limit: 500 });

/** What may be sent twice: it is a question, or says what is to be and not what is to be done. */
const repeatable = /^(List|Get|Update|Enable|Disable|Delete)/;

/** What a connection that breaks is told as: one that is refused, one that is reset, and one that is closed. */
export const broken: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.Canceled];

/**
 * A connection that is kept may have been closed by the server a moment before: what changes nothing when it is done twice is
 * sent once more. What makes something is not: nobody knows whether it was made.
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

/** The way to a server, on the connection that there is. Calls of all transports to a server use the newest revision. */
export function transportTo({ address, tls, server }: Endpoint, credentials: Interceptor): Transport {
  const baseUrl = `${tls === undefined ? "http" : "https"}://${address}`;
  const ca = tls?.ca;
  const name = `${baseUrl} ${server?.id ?? ""} ${createHash("sha256")
    .update(ca ?? "")
    .digest("hex")}`;
  let session = sessions.get(name);
  if (session === undefined) {
    const options = ca === undefined ? undefined : { ca };
    // The server takes frequent pings amiss, so there are none.
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
