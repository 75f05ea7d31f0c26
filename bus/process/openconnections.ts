/** The open connections of a server: the state of each, and which one to close for a new one. */
import type { IncomingMessage } from "node:http";
import { isIPv6, type Socket } from "node:net";
import { LinkedList, type ListNode } from "../values/linkedlist.ts";
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
  readonly proven: IncomingMessage[];
  /** Its place among the connections in its state; undefined if it is proven. */
  place: ListNode<Connection> | undefined;
  /** When the connection opened or its current request started, in milliseconds, and the bytes received by then. */
  since: number;
  before: number;
}

/** The open connections of one server. */
export class OpenConnections {
  readonly #graceMillis: number;
  readonly #open = new Map<Socket, Connection>();
  /** By source, each the oldest first. */
  readonly #unproven = new Map<string, LinkedList<Connection>>();
  /** The longest idle first. */
  readonly #kept = new LinkedList<Connection>();

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
      proven: [],
      place: undefined,
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
    // Not earlier, because a sender's next request would need the list again.
    if (this.#unproven.get(connection.source)?.size === 0) this.#unproven.delete(connection.source);
  }

  /** A request arrived. */
  begin(connection: Connection): void {
    connection.requests++;
    if (connection.state === "kept") this.#enter(connection, "unproven");
  }

  /** The sender of a request is proven. */
  prove(connection: Connection, request: IncomingMessage): void {
    connection.hasProof = true;
    if (!connection.proven.includes(request)) connection.proven.push(request);
    this.#enter(connection, "proven");
  }

  /** A request was answered, or its connection was closed. */
  end(connection: Connection, request: IncomingMessage): void {
    connection.requests--;
    const at = connection.proven.indexOf(request);
    if (at >= 0) connection.proven.splice(at, 1);
    if (!this.#open.has(connection.socket)) return;
    if (connection.requests === 0 && connection.hasProof) this.#enter(connection, "kept");
    else if (at >= 0 && connection.proven.length === 0) this.#enter(connection, "unproven");
  }

  /** The connection to close for a new one. Undefined if all have a proven request. */
  last(): Connection | undefined {
    let most = new LinkedList<Connection>();
    for (const some of this.#unproven.values()) if (some.size > most.size) most = some;
    return firstSlow(most, this.#graceMillis) ?? this.#kept.first ?? most.first;
  }

  #enter(connection: Connection, state: ConnectionState): void {
    this.#leave(connection);
    connection.state = state;
    if (state === "kept") connection.place = this.#kept.append(connection);
    if (state !== "unproven") return;
    connection.since = performance.now();
    connection.before = connection.socket.bytesRead;
    connection.place = this.#unprovenOf(connection.source).append(connection);
  }

  #leave(connection: Connection): void {
    const { state, source, place } = connection;
    if (place === undefined) return;
    if (state === "kept") this.#kept.remove(place);
    else this.#unproven.get(source)?.remove(place);
    connection.place = undefined;
  }

  #unprovenOf(source: string): LinkedList<Connection> {
    const known = this.#unproven.get(source);
    if (known !== undefined) return known;
    const list = new LinkedList<Connection>();
    this.#unproven.set(source, list);
    return list;
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
