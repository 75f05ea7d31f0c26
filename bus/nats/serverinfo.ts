/** What a NATS server says and shows before anybody has to prove anything: its first line, and its certificate. */
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { z } from "zod";

const schema = z.looseObject({
  /** It can speak TLS, and speaks nothing else. */
  tls_available: z.boolean().optional(),
  tls_required: z.boolean().optional(),
  /** It wants to see certificates. */
  tls_verify: z.boolean().optional(),
});

/** A server's INFO: https://docs.nats.io/reference/reference-protocols/nats-protocol#info */
export type Greeting = z.infer<typeof schema>;

const patienceMillis = 2000;

/** Asks the first server of an address; undefined when it does not answer within two seconds. */
async function met<T>(
  url: string,
  ask: (socket: Socket, host: string, signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const [first = ""] = url.split(",");
  const { hostname, port } = new URL(first.includes("://") ? first : `nats://${first}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port || 4222) });
  socket.on("error", () => undefined);
  try {
    return await ask(socket, host, AbortSignal.timeout(patienceMillis));
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function heard(socket: Socket, signal: AbortSignal): Promise<Greeting> {
  let text = "";
  while (!text.includes("\n")) text += String((await once(socket, "data", { signal }))[0]);
  return schema.parse(JSON.parse(text.replace(/^INFO /, "").split("\n", 1)[0] ?? ""));
}

/** The greeting of the first server of an address; undefined when there is none within two seconds. */
export const greeting = (url: string): Promise<Greeting | undefined> =>
  met(url, (socket, _host, signal) => heard(socket, signal));

/**
 * When the certificate expires that the first server of an address shows to whoever connects now; `own` is what a server that asks
 * for certificates is shown. Undefined when it does not speak TLS, or does not answer within two seconds.
 */
export const serverCertificateExpiry = (
  url: string,
  own: { readonly cert?: Buffer | undefined; readonly key?: Buffer | undefined },
): Promise<Date | undefined> =>
  met(url, async (socket, host, signal) => {
    const { tls_available, tls_required } = await heard(socket, signal);
    if (!tls_available && !tls_required) return undefined;
    // It is looked at, also when it has expired, and nothing is said to who has it.
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
