/** A gRPC client that sends whatever it is told: metadata that real clients would refuse, and bytes that are no message. */
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import { framed } from "../../../deploy/simulators/pipecd/frames.ts";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";
import { unavailable } from "../../../deploy/simulators/pipecd/status.ts";

/** How a call ended. */
export interface WireReply {
  readonly code: number;
  readonly message: string;
  /** Of a success. */
  readonly body: Uint8Array | undefined;
}

/** Connections to any number of addresses. */
export interface Wire {
  /** A broken connection, or none, is Unavailable. */
  call(address: string, path: string, metadata: Metadata, body: Uint8Array): Promise<WireReply>;
  close(): void;
}

/** A space at the end of a value is no reason to lose it. */
const lenient = { strictFieldWhitespaceValidation: false };

const deadlineMillis = 20_000;

/** Connects when it is used. */
export function openWire(): Wire {
  const sessions = new Map<string, ClientHttp2Session>();

  function sessionOf(address: string): ClientHttp2Session {
    const found = sessions.get(address);
    if (found !== undefined && !found.destroyed && !found.closed) return found;
    const session = connect(`http://${address}`, lenient);
    // Its calls are told.
    session.on("error", () => undefined);
    sessions.set(address, session);
    return session;
  }

  return {
    call: (address, path, metadata, body) =>
      new Promise((resolve, reject) => {
        const stream = sessionOf(address).request({
          ...headersOf(metadata),
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
          te: "trailers",
        });
        const headers: Record<string, unknown> = {};
        const chunks: Buffer[] = [];
        const late = setTimeout(() => reject(new Error(`no answer of ${path}`)), deadlineMillis);
        stream.on("response", (some) => Object.assign(headers, some));
        stream.on("trailers", (some) => Object.assign(headers, some));
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("error", () => undefined);
        stream.on("close", () => {
          clearTimeout(late);
          resolve(replyOf(headers, Buffer.concat(chunks)));
        });
        stream.end(framed(body));
      }),
    close() {
      for (const session of sessions.values()) session.destroy();
    },
  };
}

function replyOf(headers: Readonly<Record<string, unknown>>, body: Buffer): WireReply {
  const { "grpc-status": status, "grpc-message": message = "" } = headers;
  if (status === undefined) return { code: unavailable, message: "Connection dropped", body: undefined };
  return {
    code: Number(status),
    message: decodeURIComponent(String(message)),
    body: body.length === 0 ? undefined : body.subarray(5),
  };
}

/** Several values of a name go out as several entries. */
function headersOf(metadata: Metadata): OutgoingHttpHeaders {
  const names = Object.groupBy(metadata, ([name]) => name);
  return Object.fromEntries(
    Object.entries(names).map(([name, entries = []]) => {
      const values = entries.map(([, value]) => value);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
