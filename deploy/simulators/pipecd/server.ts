/** Serves any number of simulated PipeCD control planes on one set of ports. */
import { once } from "node:events";
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Answer, Outcome } from "./call.ts";
import { Connections } from "./connections.ts";
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

/** Accept trailing spaces in header values. */
const lenient = { strictFieldWhitespaceValidation: false };

/** Listens on ephemeral ports of 127.0.0.1. */
export async function serve({ controlPlanes, tls }: ServeOptions): Promise<Served> {
  const connections = new Connections(controlPlanes);
  const [web, api, piped] = await Promise.all([
    listen("web", connections, tls),
    listen("api", connections, tls),
    listen("piped", connections, tls),
  ]);
  const listeners = { web, api, piped };
  return {
    web: addressOf(web),
    api: addressOf(api),
    piped: addressOf(piped),
    connections: (port) => connections.countOn(listeners[port].port),
    async stop() {
      connections.closeAll();
      await Promise.all(Object.values(listeners).map(({ close }) => close()));
    },
  };
}

/** A server that listens on a port of 127.0.0.1. */
interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

const addressOf = ({ port }: Listener): string => `127.0.0.1:${port}`;

async function listen(port: Port, connections: Connections, tls: ServeOptions["tls"]): Promise<Listener> {
  const server: Http2Server =
    tls === undefined ? createServer(lenient) : createSecureServer({ ...lenient, ...tls });
  server.on("connection", (socket: Socket) => connections.accept(socket));
  // The client has disconnected.
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("stream", (stream, headers, _flags, rawHeaders) => {
    stream.on("error", () => undefined);
    void answer(connections, port, stream, headers, metadataOf(rawHeaders));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function answer(
  connections: Connections,
  port: Port,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  metadata: Metadata,
): Promise<void> {
  const rejected = httpRejection(headers);
  if (rejected !== undefined) {
    end(stream, rejected.answer, rejected.httpStatus);
    return;
  }
  try {
    const body = await buffer(stream);
    const { ":path": path = "", "grpc-encoding": encoding } = headers;
    const outcome = await outcomeOf(connections, stream, {
      ...{ port, metadata, body },
      path: String(path),
      encoding: encoding?.toString(),
    });
    if (typeof outcome === "string") connections.drop(stream, outcome);
    else end(stream, outcome);
  } catch (error) {
    // The client has disconnected.
    if (stream.destroyed) return;
    connections.drop(stream, "reset");
    throw error;
  }
}

/** The response to a request that is not gRPC; undefined if it is. */
function httpRejection({
  ":method": verb,
  "content-type": type = "",
}: IncomingHttpHeaders): { readonly answer: Answer; readonly httpStatus: number } | undefined {
  if (verb !== "POST") {
    const message = `Received a HEADERS frame with :method "${verb}" which should be POST`;
    return { answer: { code: internal, message }, httpStatus: 405 };
  }
  if (!/^application\/grpc([+;]|$)/.test(type)) {
    const message = `invalid gRPC request content-type ${JSON.stringify(type)}`;
    return { answer: { code: invalidArgument, message }, httpStatus: 415 };
  }
  return undefined;
}

/** A gRPC request, not decoded yet. */
interface GrpcRequest {
  readonly port: Port;
  readonly path: string;
  readonly metadata: Metadata;
  readonly body: Buffer;
  readonly encoding: string | undefined;
}

/** Performs a call in the process of the control plane that it belongs to. */
async function outcomeOf(
  connections: Connections,
  stream: ServerHttp2Stream,
  { port, path, metadata, body, encoding }: GrpcRequest,
): Promise<Outcome> {
  const [, name, methodName] = /^\/(.*)\/([^/]*)$/.exec(path) ?? [];
  if (name === undefined || methodName === undefined) {
    return { code: unimplemented, message: `malformed method name: ${JSON.stringify(path)}` };
  }
  const processes = connections.processesFor(stream);
  if (processes === undefined) return "ended";
  const offers = processes.flatMap((process) =>
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
    return await process.perform(service, method, metadata, unframed(body, encoding));
  } catch (error) {
    if (error instanceof RpcError) return { code: error.code, message: error.message };
    throw error;
  }
}

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
