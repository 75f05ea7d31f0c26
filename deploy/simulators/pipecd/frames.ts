/** gRPC messages and metadata over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
import type { Metadata } from "./metadata.ts";
import { internal, RpcError, resourceExhausted, unimplemented } from "./status.ts";

/** gRPC's default maximum message size, in bytes. */
const maxBytes = 4 * 1024 * 1024;
const prefixBytes = 5;
const unknown = 2;

/** Adds the length prefix to a message. */
export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Extracts the first message of a body. Throws `RpcError` with grpc-go's message. */
export function unframed(body: Buffer, encoding = "identity"): Uint8Array {
  if (encoding !== "identity" && encoding !== "") {
    const text = `grpc: Decompressor is not installed for grpc-encoding ${JSON.stringify(encoding)}`;
    throw new RpcError(unimplemented, text);
  }
  if (body.length === 0) throw new RpcError(unknown, "EOF");
  if (body.length < prefixBytes) throw new RpcError(unknown, "unexpected EOF");
  const length = body.readUInt32BE(1);
  if (length > maxBytes) {
    const text = `grpc: received message larger than max (${length} vs. ${maxBytes})`;
    throw new RpcError(resourceExhausted, text);
  }
  if (body.length < prefixBytes + length) throw new RpcError(unknown, "unexpected EOF");
  if (body[0] !== 0) {
    throw new RpcError(internal, "grpc: compressed flag set with identity or empty encoding");
  }
  return body.subarray(prefixBytes, prefixBytes + length);
}

/** Metadata from raw headers, because Node's header object joins cookies. */
export const metadataOf = (rawHeaders: readonly string[]): Metadata =>
  rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || name.startsWith(":")
      ? []
      : [[name.toLowerCase(), rawHeaders[index + 1] ?? ""] as const],
  );

/** Percent-encodes a status message for a header: all bytes except printable ASCII. */
export const escaped = (message: string): string =>
  [...Buffer.from(message)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
