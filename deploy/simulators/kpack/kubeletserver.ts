/**
 * The kubelet API that serves logs of the simulated build pods: `GET /containerLogs/<namespace>/<pod>/<container>`, with the
 * parameters of `PodLogOptions`, as https://github.com/kubernetes/cri-client/blob/v0.36.3/pkg/logs/logs.go reads them.
 * Not simulated: `stream` and authentication. Containers have no previous runs.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { KeyPair } from "@denrei/cli/local/pki";
import type { ContainerLog, LogLine } from "./podlogs.ts";

/** A running server. */
export interface KubeletServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Looks up a log; `waiting` means that the container has not started. */
export type FindLog = (namespace: string, pod: string, container: string) => ContainerLog | "waiting";

/** Starts the server on a free port of 127.0.0.1. */
export async function startKubeletServer(keys: KeyPair, find: FindLog): Promise<KubeletServer> {
  const stopping = new AbortController();
  const server = createServer({ cert: keys.cert, key: keys.key }, (request, response) => {
    const url = new URL(request.url ?? "/", "https://kubelet");
    const [, route, namespace = "", pod = "", container = ""] = url.pathname.split("/");
    if (route !== "containerLogs") {
      response.writeHead(404).end("not found: expected /containerLogs/<namespace>/<pod>/<container>\n");
      return;
    }
    const log = find(namespace, pod, container);
    if (log === "waiting") {
      const text = `container "${container}" in pod "${pod}" is waiting to start: PodInitializing`;
      response.writeHead(400, { "content-type": "text/plain" }).end(text);
      return;
    }
    if (url.searchParams.get("previous") === "true") {
      const text = `previous terminated container "${container}" in pod "${pod}" not found`;
      response.writeHead(400, { "content-type": "text/plain" }).end(text);
      return;
    }
    response.writeHead(200, { "content-type": "text/plain" });
    const disconnected = new AbortController();
    response.on("close", () => disconnected.abort());
    void send(log, url.searchParams, response, AbortSignal.any([disconnected.signal, stopping.signal]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function send(
  log: ContainerLog,
  query: URLSearchParams,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const tail = Number(query.get("tailLines") ?? Number.POSITIVE_INFINITY);
  let remaining = Number(query.get("limitBytes") ?? Number.POSITIVE_INFINITY);
  const since = sinceOf(query);
  let sent = Math.max(0, log.lines.length - tail);
  try {
    for (;;) {
      for (; sent < log.lines.length && remaining > 0; sent++) {
        const one = log.lines[sent] as LogLine;
        if (one.at.getTime() < since) continue;
        const bytes = Buffer.from(text(one, query)).subarray(0, remaining);
        remaining -= bytes.length;
        response.write(bytes);
      }
      if (query.get("follow") !== "true" || log.isOver || remaining <= 0) break;
      await log.more(signal);
    }
  } catch {
    // The client has disconnected.
  }
  response.end();
}

/** Start time of the log, in milliseconds since the epoch, inclusive. */
function sinceOf(query: URLSearchParams): number {
  const seconds = query.get("sinceSeconds");
  const time = query.get("sinceTime");
  if (seconds !== null) return Date.now() - Number(seconds) * 1000;
  return time === null ? Number.NEGATIVE_INFINITY : Date.parse(time);
}

/** Kubelet timestamps have nine fractional digits. */
const text = (one: LogLine, query: URLSearchParams): string =>
  `${query.get("timestamps") === "true" ? `${one.at.toISOString().replace("Z", "000000Z")} ` : ""}${one.text}\n`;
