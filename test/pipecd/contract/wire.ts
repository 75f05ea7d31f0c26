/** A gRPC client without validation: it can send metadata that real clients reject, and invalid messages. */
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import { framed } from "../../../deploy/simulators/pipecd/frames.ts";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";
import { unavailable } from "../../../deploy/simulators/pipecd/status.ts";

/** Outcome of a call. */
export interface WireReply {
  readonly code: number;
  readonly message: string;
  /** Response of a successful call. */
  readonly body: Uint8Array | undefined;
}

/** Connections to any number of addresses. */
export interface Wire {
  /** Calls a method. A broken or refused connection is reported as Unavailable. */
  call(address: string, path: string, metadata: Metadata, body: Uint8Array): Promise<WireReply>;
  close(): void;
}

/** Allow trailing spaces in header values. */
const lenient = { strictFieldWhitespaceValidation: false };

const deadlineMillis = 20_000;

/** Creates a client that connects at the first call. */
export function openWire(): Wire {
  const sessions = new Map<string, ClientHttp2Session>();

  function sessionOf(address: string): ClientHttp2Session {
    const found = sessions.get(address);
    if (found !== undefined && !found.destroyed && !found.closed) return found;
    const session = connect(`http://${address}`, lenient);
    // The session's calls report the error.
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
        const late = setTimeout(() => reject(new Error(`no response from ${path}`)), deadlineMillis);
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

/** Sends several values of a name as separate entries. */
function headersOf(metadata: Metadata): OutgoingHttpHeaders {
  const names = Object.groupBy(metadata, ([name]) => name);
  return Object.fromEntries(
    Object.entries(names).map(([name, entries = []]) => {
      const values = entries.map(([, value]) => value);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
