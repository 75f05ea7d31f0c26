/** The open connections of a server: the state of each, and which one to close for a new one. */
import type { IncomingMessage } from "node:http";
import { isIPv6, type Socket } from "node:net";
import type { ConnectionState } from "./connectionmetrics.ts";

/** A request that arrives at this rate is not slow. Bytes per second. */
const steadyRate = 65_536;

/** An open connection. */
export interface Connection {
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

/** The open connections of one server. */
export class OpenConnections {
  readonly #graceMillis: number;
  readonly #open = new Map<Socket, Connection>();
  /** By source, each the oldest first. */
  readonly #unproven = new Map<string, Set<Connection>>();
  /** The longest idle first. */
  readonly #kept = new Set<Connection>();

  /** `graceMillis`: a younger connection is not the first to be closed. */
  constructor(graceMillis: number) {
    this.#graceMillis = graceMillis;
  }

  get size(): number {
    return this.#open.size;
  }

  sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  /** Number of connections by state. */
  counts(): Record<ConnectionState, number> {
    const counts = { unproven: 0, kept: 0, proven: 0 };
    for (const { state } of this.#open.values()) counts[state]++;
    return counts;
  }

  add(socket: Socket): Connection {
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
    this.#open.set(socket, connection);
    this.#enter(connection, "unproven");
    return connection;
  }

  remove(connection: Connection): void {
    this.#leave(connection);
    this.#open.delete(connection.socket);
  }

  /** A request arrived. */
  begin(connection: Connection): void {
    connection.requests++;
    if (connection.state === "kept") this.#enter(connection, "unproven");
  }

  /** The sender of a request is proven. */
  prove(connection: Connection, request: IncomingMessage): void {
    connection.hasProof = true;
    connection.proven.add(request);
    this.#enter(connection, "proven");
  }

  /** A request was answered, or its connection was closed. */
  end(connection: Connection, request: IncomingMessage): void {
    connection.requests--;
    const wasProven = connection.proven.delete(request);
    if (!this.#open.has(connection.socket)) return;
    if (connection.requests === 0 && connection.hasProof) this.#enter(connection, "kept");
    else if (wasProven && connection.proven.size === 0) this.#enter(connection, "unproven");
  }

  /** The connection to close for a new one. Undefined if all have a proven request. */
  last(): Connection | undefined {
    let most: ReadonlySet<Connection> = new Set();
    for (const some of this.#unproven.values()) if (some.size > most.size) most = some;
    const [oldest] = most;
    const [idle] = this.#kept;
    return firstSlow(most, this.#graceMillis) ?? idle ?? oldest;
  }

  #enter(connection: Connection, state: ConnectionState): void {
    this.#leave(connection);
    connection.state = state;
    if (state === "kept") this.#kept.add(connection);
    if (state !== "unproven") return;
    connection.since = performance.now();
    connection.before = connection.socket.bytesRead;
    const others = this.#unproven.get(connection.source) ?? new Set();
    this.#unproven.set(connection.source, others.add(connection));
  }

  #leave(connection: Connection): void {
    if (connection.state === "kept") this.#kept.delete(connection);
    if (connection.state !== "unproven") return;
    const others = this.#unproven.get(connection.source);
    others?.delete(connection);
    if (others?.size === 0) this.#unproven.delete(connection.source);
  }
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

/**
 * Identifies the sender of an address: an IPv4 address, or the first 64 bits of an IPv6 address. A single sender owns such a
 * network.
 */
export function sourceOf(address = ""): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ""] = address.split("%", 1);
  if (!isIPv6(plain)) return plain;
  const [head = [], tail = []] = plain.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}
