/** Serves any number of simulated PipeCD control planes on one set of ports. */
import { once } from "node:events";
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Answer, Outcome } from "./call.ts";
import type { ControlPlane } from "./controlplane.ts";
import { escaped, framed, metadataOf, unframed } from "./frames.ts";
import type { Metadata } from "./metadata.ts";
import type { ServerProcess } from "./serverprocess.ts";
import type { Port, Service } from "./service.ts";
import { internal, invalidArgument, ok, RpcError, unimplemented } from "./status.ts";

/** Options of {@link serve}. */
export interface ServeOptions {
  /**
   * Control planes behind the ports, evaluated for each call. A call goes to the control plane that knows its credentials;
   * otherwise the first one that is up rejects it. A connection stays with the process that served its first call, as long as
   * that process runs.
   */
  readonly controlPlanes: () => Iterable<ControlPlane>;
  /** PEM. Without it, connections are plain text with prior knowledge of HTTP/2. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Listening ports, as `host:port`. */
export interface Served {
  readonly web: string;
  /** Implements nothing when all control planes have v0.9.0. */
  readonly api: string;
  readonly piped: string;
  /** Number of open connections to a port. */
  connections(port: Port): number;
  stop(): Promise<void>;
}

/** A client connection and the processes that it has reached. */
interface Connection {
  readonly socket: Socket;
  readonly processes: Map<ControlPlane, ServerProcess>;
}

/** Accept trailing spaces in header values. */
const lenient = { strictFieldWhitespaceValidation: false };

/** Listens on ephemeral ports of 127.0.0.1. */
export async function serve({ controlPlanes, tls }: ServeOptions): Promise<Served> {
  /** By name, because Node does not expose a session's socket for destruction. */
  const connections = new Map<string, Connection>();
  const ports = await Promise.all((["web", "api", "piped"] as const).map(listen));
  const [web, api, piped] = ports.map(({ address }) => address) as [string, string, string];

  async function listen(port: Port): Promise<{ address: string; close(): Promise<void> }> {
    const server: Http2Server =
      tls === undefined ? createServer(lenient) : createSecureServer({ ...lenient, ...tls });
    server.on("connection", (socket: Socket) => {
      if (![...controlPlanes()].some(({ isUp }) => isUp)) {
        socket.destroy();
        return;
      }
      const name = nameOf(socket);
      connections.set(name, { socket, processes: new Map() });
      socket.on("close", () => connections.delete(name));
    });
    // The client has disconnected.
    server.on("session", (session) => session.on("error", () => undefined));
    server.on("stream", (stream, headers, _flags, rawHeaders) => {
      stream.on("error", () => undefined);
      void answer(port, stream, headers, metadataOf(rawHeaders));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      async close() {
        for (const { socket } of connections.values()) socket.destroy();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      },
    };
  }

  /**
   * Closes the connection of a call without an HTTP/2 frame. Several control planes of a test share connections, unlike real
   * ones; then only the call ends, with CANCEL, which its caller also sees when a connection closes.
   */
  function drop(stream: ServerHttp2Stream, how: "reset" | "ended"): void {
    const socket = connectionOf(stream)?.socket;
    if ([...controlPlanes()].length > 1) stream.close(constants.NGHTTP2_CANCEL);
    else if (how === "reset") socket?.resetAndDestroy();
    else socket?.destroy();
  }

  const connectionOf = ({ session }: ServerHttp2Stream): Connection | undefined =>
    session && connections.get(nameOf(session.socket));

  /** The process of a control plane that serves a connection. */
  function processOf(plane: ControlPlane, connection: Connection | undefined): ServerProcess {
    const reached = connection?.processes.get(plane);
    if (reached?.isUp) return reached;
    const { process } = plane;
    connection?.processes.set(plane, process);
    return process;
  }

  async function answer(
    port: Port,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    metadata: Metadata,
  ): Promise<void> {
    const { ":method": verb, ":path": path = "", "content-type": type = "" } = headers;
    if (verb !== "POST") {
      const text = `Received a HEADERS frame with :method "${verb}" which should be POST`;
      end(stream, { code: internal, message: text }, 405);
      return;
    }
    if (!/^application\/grpc([+;]|$)/.test(type)) {
      const text = `invalid gRPC request content-type ${JSON.stringify(type)}`;
      end(stream, { code: invalidArgument, message: text }, 415);
      return;
    }
    try {
      const body = await buffer(stream);
      const outcome = await outcomeOf(stream, port, String(path), metadata, body, headers["grpc-encoding"]);
      if (typeof outcome === "string") drop(stream, outcome);
      else end(stream, outcome);
    } catch (error) {
      // The client has disconnected.
      if (stream.destroyed) return;
      drop(stream, "reset");
      throw error;
    }
  }

  async function outcomeOf(
    stream: ServerHttp2Stream,
    port: Port,
    path: string,
    metadata: Metadata,
    body: Buffer,
    encoding: string | string[] | undefined,
  ): Promise<Outcome> {
    const [, name, methodName] = /^\/(.*)\/([^/]*)$/.exec(path) ?? [];
    if (name === undefined || methodName === undefined) {
      return { code: unimplemented, message: `malformed method name: ${JSON.stringify(path)}` };
    }
    const all = [...controlPlanes()];
    if (!all.some(({ isUp }) => isUp)) return "ended";
    const connection = connectionOf(stream);
    const offers = all
      .map((plane) => processOf(plane, connection))
      .flatMap((process) =>
        process.services
          .filter((service) => service.port === port && service.name === name)
          .map((service) => ({ process, service })),
      );
    if (offers.length === 0) return { code: unimplemented, message: `unknown service ${name}` };
    const { process, service } = choose(offers, metadata);
    const method = service.methods.get(methodName);
    if (method === undefined) {
      return { code: unimplemented, message: `unknown method ${methodName} for service ${name}` };
    }
    try {
      return await process.perform(service, method, metadata, unframed(body, encoding?.toString()));
    } catch (error) {
      if (error instanceof RpcError) return { code: error.code, message: error.message };
      throw error;
    }
  }

  return {
    ...{ web, api, piped },
    connections: (port) =>
      [...connections.keys()].filter((name) => name.startsWith(`${{ web, api, piped }[port].split(":")[1]} `))
        .length,
    stop: async () => {
      await Promise.all(ports.map(({ close }) => close()));
    },
  };
}

const nameOf = ({ localPort, remotePort }: Pick<Socket, "localPort" | "remotePort">): string =>
  `${localPort} ${remotePort}`;

interface Offer {
  readonly process: ServerProcess;
  readonly service: Service;
}

function choose(offers: readonly Offer[], metadata: Metadata): Offer {
  const known = offers.find(({ service }) => service.knows(metadata));
  const offer = known ?? offers.find(({ process }) => process.isUp) ?? offers[0];
  if (offer === undefined) throw new Error("no control plane offers the service");
  return offer;
}

function end(stream: ServerHttp2Stream, answer: Answer, httpStatus = 200): void {
  if (stream.destroyed) return;
  const { code, message, body } = answer;
  const headers = { ":status": httpStatus, "content-type": "application/grpc" };
  const status = { "grpc-status": String(code), "grpc-message": escaped(message) };
  if (code !== ok) {
    stream.respond({ ...headers, ...status }, { endStream: true });
    return;
  }
  stream.respond(headers, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(status));
  stream.end(framed(body ?? new Uint8Array()));
}
