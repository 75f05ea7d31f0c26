/** Reads a request's body within limits. */
import type { IncomingMessage } from "node:http";
import type { Room } from "./budget.ts";

/** Why a body was not read: too large, no memory left, its memory given to another body, or the connection broke. */
export type Unread = "too large" | "no room" | "displaced" | "broken off";

/** Options of {@link readBody}. */
export interface BodyOptions {
  /** Bytes. */
  readonly limit: number;
  /** `Content-Length`, in bytes. */
  readonly announced: number;
  readonly room: Room;
  /** Called with each part as it arrives. */
  readonly each: (chunk: Buffer) => void;
}

/** Reads the body. Returns at once if the announced length is too large. */
export function readBody(
  request: IncomingMessage,
  { limit, announced, room, each }: BodyOptions,
): Promise<Buffer | Unread> {
  if (announced > limit) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const pieces = new Pieces(announced, room);
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
      if (pieces.add(chunk)) each(chunk);
      else end("no room");
    };
    const done = (): void => end(pieces.body());
    const broken = (): void => end("broken off");
    // One more closure in this scope made V8 keep bodies for longer, and doubled the time of garbage collection (Node.js 24).
    room.onTaken = end;
    request.on("data", read);
    request.on("end", done);
    request.on("error", broken);
    request.on("close", broken);
  });
}

/** Smaller pieces are joined: as separate objects they would take more memory than their content. Bytes. */
const minPieceBytes = 1024;
const nothing: Buffer = Buffer.alloc(0);

/**
 * The pieces of a body. They take at most twice as much memory as the sender has sent, however small they are. Announcing a
 * length costs the sender nothing, so nothing is allocated for it.
 */
class Pieces {
  readonly #announced: number;
  readonly #room: Room;
  readonly #kept: Buffer[] = [];
  /** Small pieces, concatenated. */
  #block = nothing;
  #filled = 0;
  #size = 0;
  #taken = 0;

  constructor(announced: number, room: Room) {
    this.#announced = announced;
    this.#room = room;
  }

  /** Adds a piece. Returns false if there is no memory for it. */
  add(piece: Buffer): boolean {
    if (piece.length <= this.#block.length - this.#filled) return this.#append(piece);
    this.#keepBlock();
    if (piece.length >= minPieceBytes || piece.length === this.#announced) {
      this.#kept.push(piece);
      this.#size += piece.length;
      return this.#take(this.#size);
    }
    const more = Math.min(this.#announced - this.#size, Math.max(minPieceBytes, this.#size));
    const length = Math.max(piece.length, more);
    if (!this.#take(this.#size + length)) return false;
    this.#block = Buffer.allocUnsafeSlow(length);
    return this.#append(piece);
  }

  /** All pieces, joined. */
  body(): Buffer {
    this.#keepBlock();
    return this.#kept.length === 1 ? (this.#kept[0] as Buffer) : Buffer.concat(this.#kept, this.#size);
  }

  #take(bytes: number): boolean {
    if (bytes <= this.#taken) return true;
    this.#taken = bytes;
    return this.#room.grow(bytes);
  }

  #append(piece: Buffer): boolean {
    piece.copy(this.#block, this.#filled);
    this.#filled += piece.length;
    this.#size += piece.length;
    return true;
  }

  #keepBlock(): void {
    const isFull = this.#filled === this.#block.length;
    if (this.#filled > 0)
      this.#kept.push(isFull ? this.#block : Buffer.from(this.#block.subarray(0, this.#filled)));
    this.#block = nothing;
    this.#filled = 0;
  }
}
