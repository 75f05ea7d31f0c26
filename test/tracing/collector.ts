/** A simulated collector of traces: accepts OTLP over HTTP, hangs, or refuses. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { type ExportedSpan, spansIn } from "./otlp.ts";

/** The collector's response to a request. */
export type Conduct = "take" | "hang" | "refuse";

/** A received request. */
export interface ExportRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** A running collector. */
export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly requests: readonly ExportRequest[];
  /** The accepted requests. */
  readonly spans: readonly ExportedSpan[];
  /** The number of connections ever opened. */
  readonly connections: number;
  conduct: Conduct;
  stop(): Promise<void>;
}

/** Starts a collector on a free port. */
export async function startCollector(conduct: Conduct = "take"): Promise<Collector> {
  const requests: ExportRequest[] = [];
  const spans: ExportedSpan[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    if (collector.conduct === "hang") return;
    if (collector.conduct === "refuse") {
      response.writeHead(400).end();
      return;
    }
    spans.push(...spansIn(body));
    // An `ExportTraceServiceResponse` without a partial success has no bytes.
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  server.on("connection", () => {
    connections++;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    get connections() {
      return connections;
    },
    conduct,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return collector;
}
