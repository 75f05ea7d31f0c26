/**
 * An address on this machine that stays the same while one listener behind it follows another: an editor, or GitHub, is told of
 * it once.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { UsageError } from "../../environment/errors.ts";

/** The address. */
export interface Relay {
  readonly port: number;
  /** Leads to another listener from now on; a URL with a port. Who comes while there is none is turned away. */
  lead(url: string | undefined): void;
  close(): void;
}

/** Who comes to it. */
export interface RelayOptions {
  /** For errors: `debuggers`. */
  readonly for: string;
  /** The only one that will do. */
  readonly port: number | undefined;
  /** Without such a one, this and those that follow are tried. */
  readonly usualPort: number;
  /** What becomes of connections to the listener before. */
  readonly before: "cut off" | "left alone";
}

/** So many ports are tried from the usual one on. */
const tries = 50;
const host = "127.0.0.1";

/** Opens an address, which leads nowhere yet. Throws a {@link UsageError} when the port is in use. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const connections = new Set<Socket>();
  let target: { readonly host: string; readonly port: number } | undefined;

  function cutOff(): void {
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
        // What it has said before is still heard.
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    lead(url) {
      if (options.before === "cut off") cutOff();
      const to = url === undefined ? undefined : new URL(url);
      target = to && { host: to.hostname, port: Number(to.port) };
    },
    close() {
      server.close();
      cutOff();
    },
  };
}

async function listen(
  server: Server,
  { for: whose, port: wanted, usualPort }: Pick<RelayOptions, "for" | "port" | "usualPort">,
): Promise<void> {
  for (let port = wanted ?? usualPort; ; port++) {
    try {
      server.listen({ port, host });
      await once(server, "listening");
      return;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (wanted !== undefined && (code === "EADDRINUSE" || code === "EACCES"))
        throw new UsageError(
          `expected a port for ${whose} that can be listened at, found ${port}: ${message}`,
        );
      if (code !== "EADDRINUSE" || port >= usualPort + tries) throw error;
    }
  }
}
