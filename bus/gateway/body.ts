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

/** Pieces below this are joined: as objects of their own they would take more memory than their bytes. */
const leastBytes = 1024;

/** Pieces of a body. */
interface Pieces {
  /** False when there is no memory for it. */
  add(piece: Buffer): boolean;
  /** All of them. */
  body(): Buffer;
}

/**
 * Keeps the pieces of a body, so that it takes at most twice as much memory as its sender has sent, in however small
 * pieces. An announcement costs the sender nothing, so it takes no memory.
 */
function joinPieces(announced: number, room: Room): Pieces {
  const kept: Buffer[] = [];
  /** Small pieces, one after the other. */
  let block: Buffer = Buffer.alloc(0);
  let filled = 0;
  let size = 0;
  let taken = 0;

  function take(bytes: number): boolean {
    if (bytes <= taken) return true;
    taken = bytes;
    return room.grow(bytes);
  }

  function keepBlock(): void {
    if (filled > 0) kept.push(filled === block.length ? block : Buffer.from(block.subarray(0, filled)));
    block = Buffer.alloc(0);
    filled = 0;
  }

  function append(piece: Buffer): boolean {
    piece.copy(block, filled);
    filled += piece.length;
    size += piece.length;
    return true;
  }

  return {
    add(piece) {
      if (piece.length <= block.length - filled) return append(piece);
      keepBlock();
      if (piece.length >= leastBytes || piece.length === announced) {
        kept.push(piece);
        size += piece.length;
        return take(size);
      }
      const length = Math.max(piece.length, Math.min(announced - size, Math.max(leastBytes, size)));
      if (!take(size + length)) return false;
      block = Buffer.allocUnsafeSlow(length);
      return append(piece);
    },
    body() {
      keepBlock();
      return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept, size);
    },
  };
}
