/** Reading a request's body, within limits. */
import type { IncomingMessage } from "node:http";
import type { Room } from "./budget.ts";

/** Why a body was not read: it is too large, there is no room for it now, or its sender is gone. */
export type Unread = "too large" | "no room" | "broken off";

/** How much may be read. */
export interface BodyOptions {
  /** Bytes. */
  readonly limit: number;
  readonly room: Room;
  /** Told of each part as it arrives. */
  readonly each: (chunk: Buffer) => void;
}

/** What a piece takes beside its bytes: a sender can make each as small as one byte. */
const pieceBytes = 256;

/** Reads the body. What was announced as too large is not waited for. */
export function readBody(
  request: IncomingMessage,
  { limit, room, each }: BodyOptions,
): Promise<Buffer | Unread> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (result: Buffer | Unread): void => {
      request.off("data", read);
      request.off("end", done);
      request.off("error", broken);
      request.off("close", broken);
      request.on("error", () => undefined);
      resolve(result);
    };
    const read = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) end("too large");
      // Room is taken for what is there: what was announced costs its sender nothing.
      else if (!room.grow(size + (chunks.length + 1) * pieceBytes)) end("no room");
      else {
        each(chunk);
        chunks.push(chunk);
      }
    };
    const done = (): void => end(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    const broken = (): void => end("broken off");
    request.on("data", read);
    request.on("end", done);
    request.on("error", broken);
    request.on("close", broken);
  });
}
