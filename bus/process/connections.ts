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
import { type ConnectionState, type CutReason, connectionMetrics } from "./connectionmetrics.ts";
import { sourceOf } from "./source.ts";
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
/** A request that arrives at this rate is not slow. Bytes per second. */
const steadyRate = 65_536;
/** How long a server that refused connections reports that it is not ready. Milliseconds. */
const refusingMillis = 5000;

interface Connection {
  readonly socket: Socket;
  readonly source: string;
  state: ConnectionState;
  hasProof: boolean;
  /** Number of unanswered requests. `proven` holds those with a proven sender. */
  requests: number;
  readonly proven: Set<IncomingMessage>;
  /** When the connection opened or its current request started, in milliseconds, and the bytes received by then. */
  since: number;
  before: number;
}

/** Limits the connections of a server. Call it before the server listens. */
export function limitConnections(server: Server, options: ConnectionOptions): Connections {
  const { graceMillis = defaultGraceMillis } = options;
  const limit = Math.min(options.limit, Math.floor(openFilesLimit() / 2));
  const open = new Map<Socket, Connection>();
  const unproven = new Map<string, Set<Connection>>();
  const kept = new Set<Connection>();
  const cut = connectionMetrics(options.registry, options.name, () => {
    const counts: Record<ConnectionState, number> = { unproven: 0, kept: 0, proven: 0 };
    for (const { state } of open.values()) counts[state]++;
    return counts;
  });
  let refusedAt = Number.NEGATIVE_INFINITY;

  function leave(connection: Connection): void {
    if (connection.state === "kept") kept.delete(connection);
    if (connection.state !== "unproven") return;
    const others = unproven.get(connection.source);
    others?.delete(connection);
    if (others?.size === 0) unproven.delete(connection.source);
  }

  function enter(connection: Connection, state: ConnectionState): void {
    leave(connection);
    connection.state = state;
    if (state === "kept") kept.add(connection);
    if (state !== "unproven") return;
    connection.since = performance.now();
    connection.before = connection.socket.bytesRead;
    const others = unproven.get(connection.source) ?? new Set();
    unproven.set(connection.source, others.add(connection));
  }

  /** The connection to close for a new one. */
  function last(): Connection | undefined {
    let most: ReadonlySet<Connection> = new Set();
    for (const some of unproven.values()) if (some.size > most.size) most = some;
    const [oldest] = most;
    const [idle] = kept;
    return firstSlow(most, graceMillis) ?? idle ?? oldest;
  }

  /** Makes room for one more connection. Returns false if all are in use. */
  function makeRoom(): boolean {
    if (open.size < limit) return true;
    const displaced = last();
    if (displaced === undefined) return false;
    cut("displaced");
    drop(displaced);
    displaced.socket.destroy();
    return true;
  }

  function drop(connection: Connection): void {
    leave(connection);
    open.delete(connection.socket);
  }

  server.on("connection", (socket) => {
    if (!makeRoom()) {
      refusedAt = performance.now();
      cut("refused");
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      source: sourceOf(socket.remoteAddress),
      state: "unproven",
      hasProof: false,
      requests: 0,
      proven: new Set(),
      since: 0,
      before: 0,
    };
    open.set(socket, connection);
    enter(connection, "unproven");
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const reason = reasonOf(error);
      if (reason !== undefined) cut(reason);
    });
    socket.once("close", () => drop(connection));
  });

  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = open.get(socket);
    if (connection === undefined) return;
    connection.requests++;
    if (connection.state === "kept") enter(connection, "unproven");
    response.once("close", () => {
      connection.requests--;
      const wasProven = connection.proven.delete(request);
      if (!open.has(socket)) return;
      if (connection.requests === 0 && connection.hasProof) enter(connection, "kept");
      else if (wasProven && connection.proven.size === 0) enter(connection, "unproven");
    });
  });
  watchUnread(
    server,
    () => open.keys(),
    options.unreadMillis ?? unreadMillis,
    (socket) => {
      cut("unread");
      socket.destroy();
    },
  );
  // Node answers an unknown expectation itself and keeps the connection.
  server.on("checkExpectation", (_request, response) => {
    response.writeHead(417, { connection: "close" }).end();
  });

  return {
    prove(request) {
      const connection = open.get(request.socket);
      if (connection === undefined) return;
      connection.hasProof = true;
      connection.proven.add(request);
      enter(connection, "proven");
    },
    refusing: () =>
      performance.now() - refusedAt < refusingMillis
        ? `refusing new connections: all ${limit} are in use. Run more replicas.`
        : undefined,
  };
}

/** The oldest connection whose request does not arrive at a steady rate. */
function firstSlow(connections: Iterable<Connection>, graceMillis: number): Connection | undefined {
  const now = performance.now();
  for (const connection of connections) {
    const millis = now - connection.since;
    if (millis < graceMillis) return undefined;
    if (((connection.socket.bytesRead - connection.before) / millis) * 1000 < steadyRate) return connection;
  }
  return undefined;
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
