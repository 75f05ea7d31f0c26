/** A TCP relay with a fixed local address and a changing target, so that editors and GitHub are configured only once. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { UsageError } from "denrei/runtime";

/** A relay. */
export interface Relay {
  readonly port: number;
  /** Forwards new connections to a URL with a port. Without a URL, new connections are closed. */
  forwardTo(url: string | undefined): void;
  close(): void;
}

/** What to relay. */
export interface RelayOptions {
  /** For errors: `debuggers`. */
  readonly for: string;
  /** The required port. */
  readonly port: number | undefined;
  /** Without a required port, the first free port from this one on is used. */
  readonly usualPort: number;
  /** What happens to open connections when the target changes. */
  readonly onChange: "disconnect" | "keep";
}

/** Number of ports to try. */
const tries = 50;
const host = "127.0.0.1";

/** Opens a relay without a target. Throws a {@link UsageError} if the required port is in use. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const connections = new Set<Socket>();
  let target: { readonly host: string; readonly port: number } | undefined;

  function disconnectAll(): void {
    for (const connection of connections) connection.destroy();
  }

  const server = createServer((client) => {
    if (target === undefined) return client.destroy();
    const listener = connect(target);
    for (const [one, other] of [
      [client, listener],
      [listener, client],
    ] as const) {
      connections.add(one);
      one.setNoDelay();
      one.on("error", () => undefined);
      one.once("close", () => {
        connections.delete(one);
        // Data that is already in the buffer is still sent.
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo(url) {
      if (options.onChange === "disconnect") disconnectAll();
      const to = url === undefined ? undefined : new URL(url);
      target = to && { host: to.hostname, port: Number(to.port) };
    },
    close() {
      server.close();
      disconnectAll();
    },
  };
}

async function listen(
  server: Server,
  { for: users, port: required, usualPort }: Pick<RelayOptions, "for" | "port" | "usualPort">,
): Promise<void> {
  for (let port = required ?? usualPort; ; port++) {
    try {
      server.listen({ port, host });
      await once(server, "listening");
      return;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (required !== undefined && (code === "EADDRINUSE" || code === "EACCES"))
        throw new UsageError(`cannot listen at port ${port} for ${users}: ${message}`);
      if (code !== "EADDRINUSE" || port >= usualPort + tries) throw error;
    }
  }
}
