/** Reading a request's body, within limits. */
import type { IncomingMessage } from "node:http";
import type { Room } from "./budget.ts";

/** Why a body was not read: it is too large, no memory is left or it was given to another body, or the sender is gone. */
export type Unread = "too large" | "no room" | "displaced" | "broken off";

/** How much may be read. */
export interface BodyOptions {
  /** Bytes. */
  readonly limit: number;
  /** Bytes, as `Content-Length` says. */
  readonly announced: number;
  readonly room: Room;
  /** Told of each part as it arrives. */
  readonly each: (chunk: Buffer) => void;
}

/** Reads the body. One that was announced as too large is not waited for. */
export function readBody(
  request: IncomingMessage,
  { limit, announced, room, each }: BodyOptions,
): Promise<Buffer | Unread> {
  if (announced > limit) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const joined = joinPieces(announced, room);
    const end = (result: Buffer | Unread): void => {
      request.off("data", read);
      request.off("end", done);
      request.off("error", broken);
      request.off("close", broken);
      request.on("error", () => undefined);
      room.keep();
      resolve(result);
    };
    const read = (chunk: Buffer): void => {
      if (joined.add(chunk)) each(chunk);
      else end("no room");
    };
    const done = (): void => end(joined.body());
    const broken = (): void => end("broken off");
    room.onTaken = () => end("displaced");
    request.on("data", read);
    request.on("end", done);
    request.on("error", broken);
    request.on("close", broken);
  });
}

/** The least that is allocated for a body that comes in pieces. Bytes. */
const leastBytes = 1024;

/** Pieces of a body in one buffer. */
interface Pieces {
  /** False when there is no memory for it. */
  add(piece: Buffer): boolean;
  /** All of them. */
  body(): Buffer;
}

/**
 * Joins the pieces of a body, so that it takes at most twice as much memory as its sender has sent, in however small
 * pieces. An announcement costs the sender nothing, so it takes no memory.
 */
function joinPieces(announced: number, room: Room): Pieces {
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add(piece) {
      const wanted = size + piece.length;
      if (wanted > buffer.length) {
        const whole = piece.length === announced;
        const capacity = whole ? announced : Math.min(announced, Math.max(leastBytes, 2 * wanted));
        if (!room.grow(capacity)) return false;
        if (whole) buffer = piece;
        else {
          // Not of the pool that small buffers share: a slice of it would keep all of it.
          const larger = Buffer.allocUnsafeSlow(capacity);
          buffer.copy(larger, 0, 0, size);
          buffer = larger;
        }
      }
      if (buffer !== piece) piece.copy(buffer, size);
      size = wanted;
      return true;
    },
    body: () => buffer.subarray(0, size),
  };
}
