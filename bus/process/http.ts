/** The probe and metrics server of a process: `/healthz`, `/readyz`, `/metrics`. */
import type { Server } from "node:http";
import type { Registry } from "prom-client";
import { limitConnections } from "./connections.ts";
import { listenOn } from "./listen.ts";

// An `import` reads every export, including `WebSocket`, which loads Node's own undici for nothing.
const { createServer } = process.getBuiltinModule("node:http");

/** Options of {@link startProbes}. */
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

/** More than the kubelet and Prometheus ever open. */
const maxConnections = 100;
/** How long a request may take to arrive, and the interval of that check. Milliseconds. */
const arrivalMillis = 5000;
const checkMillis = 1000;

/** Starts listening. Throws `AddressError` if the address is in use or malformed. */
export async function startProbes({ address, registry, notReady }: ProbeOptions): Promise<ProbeServer> {
  const deadlines = {
    headersTimeout: arrivalMillis,
    requestTimeout: arrivalMillis,
    connectionsCheckingInterval: checkMillis,
  };
  const server: Server = createServer(deadlines, async (request, response) => {
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
  limitConnections(server, { name: "probes", limit: maxConnections, registry });
  const url = await listenOn(server, address, "probes and metrics", "--http-address");
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
