/**
 * Limits the connections of a public server. At the limit, a new connection is not refused: another one is closed. First go
 * connections without a proven sender, the oldest of the address with the most connections. So an attacker takes connections
 * from itself and not from others.
 *
 * There is no fixed limit per address: behind an ingress all requests come from a few addresses, and such a limit would let one
 * attacker block everyone behind the same ingress. There the oldest goes, and a request takes milliseconds.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Registry } from "prom-client";
import { type CutReason, connectionMetrics } from "./connectionmetrics.ts";
import { OpenConnections } from "./openconnections.ts";
import { unreadMillis, watchUnread } from "./unread.ts";

/** Options of {@link limitConnections}. */
export interface ConnectionOptions {
  /** Names the server in metrics. */
  readonly name: string;
  /** Maximum number of connections; lower if the process may not open twice as many files. */
  readonly limit: number;
  readonly registry: Registry;
  /** A connection younger than this is not the first to be closed: its request is probably still arriving. Milliseconds. */
  readonly graceMillis?: number;
  /** Close a connection if its receiver reads nothing of an answer for this long. Default: {@link unreadMillis}. */
  readonly unreadMillis?: number;
}

/** The connections of a server. */
export interface Connections {
  /**
   * Marks the sender of this request as proven: the connection stays until the request is answered. Other requests on the
   * same connection remain unproven.
   */
  prove(request: IncomingMessage): void;
  /** Why new connections were refused a moment ago: proven senders use all of them. */
  refusing(): string | undefined;
}

/** More senders need more replicas. The sockets of this many fit into the memory of one. */
export const defaultConnections = 5000;
const defaultGraceMillis = 1000;
/** How long a server that refused connections reports that it is not ready. Milliseconds. */
const refusingMillis = 5000;

/** Limits the connections of a server. Call it before the server listens. */
export function limitConnections(server: Server, options: ConnectionOptions): Connections {
  const limit = Math.min(options.limit, Math.floor(openFilesLimit() / 2));
  const open = new OpenConnections(options.graceMillis ?? defaultGraceMillis);
  const cut = connectionMetrics(options.registry, options.name, () => open.counts());
  let refusedAt = Number.NEGATIVE_INFINITY;

  /** Makes room for one more connection. Returns false if all are in use. */
  function makeRoom(): boolean {
    if (open.size < limit) return true;
    const displaced = open.last();
    if (displaced === undefined) return false;
    cut("displaced");
    open.remove(displaced);
    displaced.socket.destroy();
    return true;
  }

  server.on("connection", (socket) => {
    if (!makeRoom()) {
      refusedAt = performance.now();
      cut("refused");
      socket.destroy();
      return;
    }
    const connection = open.add(socket);
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const reason = reasonOf(error);
      if (reason !== undefined) cut(reason);
    });
    socket.once("close", () => open.remove(connection));
  });
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.of(request.socket);
    if (connection === undefined) return;
    open.begin(connection);
    response.once("close", () => open.end(connection, request));
  });
  const closeUnread = (socket: Socket) => {
    cut("unread");
    socket.destroy();
  };
  watchUnread(server, () => open.sockets(), options.unreadMillis ?? unreadMillis, closeUnread);
  // Node answers an unknown expectation itself and keeps the connection.
  server.on("checkExpectation", (_request, response) => {
    response.writeHead(417, { connection: "close" }).end();
  });

  return {
    prove(request) {
      const connection = open.of(request.socket);
      if (connection !== undefined) open.prove(connection, request);
    },
    refusing: () =>
      performance.now() - refusedAt < refusingMillis
        ? `refusing new connections: all ${limit} are in use. Run more replicas.`
        : undefined,
  };
}

function reasonOf({ code = "" }: NodeJS.ErrnoException): CutReason | undefined {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "slow";
  return code.startsWith("HPE_") ? "malformed" : undefined;
}

/** Maximum number of open files; infinite if the system does not tell. Sockets count as files. */
function openFilesLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
