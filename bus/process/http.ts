/** The probe and metrics server of a process: `/healthz`, `/readyz`, `/metrics`. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";

/** What the server answers with. */
export interface ProbeOptions {
  /** `host:port`; port 0 takes any free one. */
  readonly address: string;
  readonly registry: Registry;
  /** Why the process is not ready, or undefined when it is. */
  readonly notReady: () => string | undefined;
}

/** A listening probe server. */
export interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The address can not be listened on. */
export class ProbeAddressError extends Error {
  override readonly name = "ProbeAddressError";
}

/** Starts listening. Throws {@link ProbeAddressError} when the address is taken or malformed. */
export async function startProbes({ address, registry, notReady }: ProbeOptions): Promise<ProbeServer> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "") || "0.0.0.0";
  const port = Number(address.slice(colon + 1));
  const server: Server = createServer(async (request, response) => {
    const answer = (status: number, text: string, type = "text/plain") => {
      response.writeHead(status, { "content-type": type }).end(text);
    };
    switch (request.url) {
      case "/healthz":
        return answer(200, "ok\n");
      case "/readyz": {
        const reason = notReady();
        return reason === undefined ? answer(200, "ok\n") : answer(503, `${reason}\n`);
      }
      case "/metrics":
        return answer(200, await registry.metrics(), registry.contentType);
      default:
        return answer(404, "expected /healthz, /readyz or /metrics\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        new ProbeAddressError(
          `expected to serve probes and metrics on ${address}, but ${error.message}. Set --http-address to a free one (port 0 takes any).`,
          { cause: error },
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${bound.address.includes(":") ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
