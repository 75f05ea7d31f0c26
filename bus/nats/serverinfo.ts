/** What a NATS server reveals before authentication: its INFO line and its certificate. */
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { z } from "zod";

const schema = z.looseObject({
  /** The server supports TLS, or requires it. */
  tls_available: z.boolean().optional(),
  tls_required: z.boolean().optional(),
  /** The server requires client certificates. */
  tls_verify: z.boolean().optional(),
});

/** A server's INFO: https://docs.nats.io/reference/reference-protocols/nats-protocol#info */
export type ServerInfo = z.infer<typeof schema>;

const timeoutMillis = 2000;

/** Connects to the first server of an address. Returns undefined if it does not answer within two seconds. */
async function withFirstServer<T>(
  url: string,
  use: (socket: Socket, host: string, signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const [first = ""] = url.split(",");
  const { hostname, port } = new URL(first.includes("://") ? first : `nats://${first}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port || 4222) });
  socket.on("error", () => undefined);
  try {
    return await use(socket, host, AbortSignal.timeout(timeoutMillis));
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function readInfo(socket: Socket, signal: AbortSignal): Promise<ServerInfo> {
  let text = "";
  while (!text.includes("\n")) text += String((await once(socket, "data", { signal }))[0]);
  return schema.parse(JSON.parse(text.replace(/^INFO /, "").split("\n", 1)[0] ?? ""));
}

/** The INFO of the first server of an address; undefined if it does not arrive within two seconds. */
export const readServerInfo = (url: string): Promise<ServerInfo | undefined> =>
  withFirstServer(url, (socket, _host, signal) => readInfo(socket, signal));

/**
 * When the certificate of an address's first server expires. `own` is the client certificate, for servers that require
 * one. Undefined if the server does not support TLS or does not answer within two seconds.
 */
export const serverCertificateExpiry = (
  url: string,
  own: { readonly cert?: Buffer | undefined; readonly key?: Buffer | undefined },
): Promise<Date | undefined> =>
  withFirstServer(url, async (socket, host, signal) => {
    const { tls_available, tls_required } = await readInfo(socket, signal);
    if (!tls_available && !tls_required) return undefined;
    // Read the certificate even if it has expired. Nothing is sent to an untrusted server.
    const secured = connectTls({
      ...own,
      socket,
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
    });
    secured.on("error", () => undefined);
    await once(secured, "secureConnect", { signal });
    return secured.getPeerX509Certificate()?.validToDate;
  });
