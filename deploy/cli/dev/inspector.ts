/**
 * The address at which debuggers find the worker, whichever it is at the moment: an editor attaches to a port that stays the
 * same, while every state of the code has an inspector of its own behind it.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { UsageError } from "../usage.ts";

/** Where debuggers connect. */
export interface InspectorAddress {
  readonly port: number;
  /**
   * Leads to another inspector from now on; a `ws:` URL. Who is connected to the one before is cut off, which lets go on what he
   * had stopped: it can end in order.
   */
  lead(url: string | undefined): void;
  close(): void;
}

/** What debuggers try first. */
export const usualPort = 9229;
/** So many ports are tried from the usual one on. */
const tries = 50;
const host = "127.0.0.1";

/** Opens the address at a port, or at the first free one from the usual one on. Throws a {@link UsageError}. */
export async function openInspector(port?: number): Promise<InspectorAddress> {
  const connections = new Set<Socket>();
  let target: { readonly host: string; readonly port: number } | undefined;

  const server = createServer((client) => {
    if (target === undefined) return client.destroy();
    const inspector = connect(target);
    for (const [one, other] of [
      [client, inspector],
      [inspector, client],
    ] as const) {
      connections.add(one);
      one.setNoDelay();
      one.on("error", () => undefined);
      one.once("close", () => {
        connections.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    lead(url) {
      for (const connection of connections) connection.destroy();
      const to = url === undefined ? undefined : new URL(url);
      target = to && { host: to.hostname, port: Number(to.port) };
    },
    close() {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

async function listen(server: Server, wanted: number | undefined): Promise<void> {
  for (let port = wanted ?? usualPort; ; port++) {
    try {
      server.listen({ port, host });
      await once(server, "listening");
      return;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" || (wanted === undefined && port >= usualPort + tries)) throw error;
      if (wanted !== undefined)
        throw new UsageError(`expected a free port for debuggers, found ${port} in use (${message})`);
    }
  }
}
