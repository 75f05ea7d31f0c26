/** Listens on a configured address. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The address cannot be used. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}

/**
 * Listens on `host:port`, `:port`, or `[v6]:port`, and resolves with the URL; port 0 takes any free one. Throws
 * {@link AddressError}, which names the service and the flag of the address.
 */
export async function listenOn(server: Server, address: string, what: string, flag: string): Promise<string> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "") || "0.0.0.0";
  const port = Number(address.slice(colon + 1));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        new AddressError(
          `expected to serve ${what} on ${address}, but ${error.message}. Set ${flag} to a free one (port 0 takes any).`,
          { cause: error },
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return `http://${bound.address.includes(":") ? `[${bound.address}]` : bound.address}:${bound.port}`;
}
