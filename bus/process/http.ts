/** The probe and metrics server of a process: `/healthz`, `/readyz`, `/metrics`. */
import type { Server } from "node:http";
import type { Registry } from "prom-client";
import { listenOn } from "./listen.ts";

// An `import` of it looks at each of its names, among them `WebSocket`: Node's own undici is loaded, which nobody here uses.
const { createServer } = process.getBuiltinModule("node:http");

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

/** Starts listening. Throws `AddressError` when the address is taken or malformed. */
export async function startProbes({ address, registry, notReady }: ProbeOptions): Promise<ProbeServer> {
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
